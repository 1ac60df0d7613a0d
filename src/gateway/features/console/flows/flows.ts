// The sessions of interactive tools in the console. The operator sees those in the store, as `parley flows` shows them, and can answer, cancel and retry as it
// can; everybody sees theirs that pass through this gateway.
import { GatewayError, toReadable } from '../../../../kernel/base/errors.ts';
import type { Log } from '../../../../kernel/base/log.ts';
import { printable } from '../../../../kernel/base/visible.ts';
import { secrets } from '../../../../kernel/secrets/secrets.ts';
import type { Viewer } from '../viewers.ts';
import type { FlowLook, FlowRequest, FlowDesk } from '../../../../kernel/flow/flow-desk.ts';
import type { FlowFilter, FlowView, FlowsView } from '../../../../kernel/flow/flow-views.ts';
import type { PassingFlows } from './passing-flows.ts';

interface FlowsOptions {
  readonly stored: FlowDesk | undefined;
  readonly passing: PassingFlows;
  readonly look: FlowLook;
  readonly log: Log;
}

/** What the console answers: its HTTP status, and why something was not done. */
export interface FlowReply {
  readonly status: number;
  readonly body: object;
}

const NO_STORE = { state: 'none', problem: null, rows: [], fitting: 0, all: 0, isCut: false } as const;

const FILTERS: ReadonlySet<string> = new Set(['open', 'ended', 'all'] satisfies FlowFilter[]);
const MAX_FIELDS = 200;
/** In the names of what was filled in. */
const FIELD = 'field.';

export class Flows {
  readonly #options: FlowsOptions;

  constructor(options: FlowsOptions) {
    this.#options = options;
  }

  async list(filter: string | null, viewer: Viewer): Promise<FlowReply> {
    const wanted = FILTERS.has(filter ?? '') ? (filter as FlowFilter) : 'open';
    const passing = this.#options.passing.list(wanted, viewer);
    const store = viewer.user === undefined ? await this.#read(wanted) : null;
    return { status: 200, body: { store, passing } satisfies FlowsView };
  }

  async #read(filter: FlowFilter): Promise<FlowsView['store']> {
    const stored = this.#stored;
    if (!stored) return NO_STORE;
    try {
      return { state: 'read', problem: null, ...(await stored.list(filter)) };
    } catch (error) {
      return { ...NO_STORE, state: 'failed', problem: this.#whyNot(error) };
    }
  }

  async find(id: string, viewer: Viewer): Promise<FlowReply> {
    try {
      const stored = viewer.user === undefined ? await this.#stored?.find(id, this.#options.look) : undefined;
      const found: FlowView | undefined = stored ?? this.#options.passing.find(id, viewer);
      return found
        ? { status: 200, body: found }
        : { status: 404, body: { error: 'This session is not known any more.' } };
    } catch (error) {
      return { status: 503, body: { error: this.#whyNot(error) } };
    }
  }

  /** `form`: `do`, `id`, and of an answer `promptId` and what was filled in. For the operator in a browser. */
  async act(form: FormData, { name, way }: Viewer): Promise<FlowReply> {
    const request = toRequest(form, `${way}:${name}`);
    if (!request || !this.#stored) return { status: 422, body: { error: 'There is nothing to do.' } };
    try {
      await this.#stored.ask(request, this.#options.look);
      const { id, kind, by } = request;
      this.#options.log.info({ session: id, kind, by }, 'console.flow');
      return { status: 200, body: {} };
    } catch (error) {
      return { status: 409, body: { error: this.#whyNot(error) } };
    }
  }

  get #stored(): FlowDesk | undefined {
    const { stored } = this.#options;
    return stored?.isThere ? stored : undefined;
  }

  #whyNot(error: unknown): string {
    if (error instanceof GatewayError) return printable(secrets.mask(error.message));
    this.#options.log.error({ error: toReadable(error) }, 'console.flows-failed');
    return 'The store of sessions could not be read. The log of the gateway says why.';
  }
}

function toRequest(form: FormData, by: string): FlowRequest | undefined {
  const text = (name: string): string => String(form.get(name) ?? '');
  const [id, kind] = [text('id'), text('do')];
  if (kind === 'cancel' || kind === 'retry') return { kind, id, by };
  if (kind !== 'answer') return undefined;
  const names = [...new Set(form.keys())].filter((name) => name.startsWith(FIELD)).slice(0, MAX_FIELDS);
  const fields = new Map(names.map((name) => [name.slice(FIELD.length), form.getAll(name).map(String)]));
  return { kind, id, by, promptId: text('promptId'), fields };
}
