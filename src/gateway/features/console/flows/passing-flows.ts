// The sessions of MCP Flow that clients play through this gateway: what each asked, and when. Whose a session is stays with it. What people answer, and what
// a tool returns, is not kept.
import type { Exchange } from '../../../../kernel/exchange.ts';
import { loggedPrincipal } from '../../../../kernel/base/anonymous.ts';
import type { Clock } from '../../../../kernel/base/clock.ts';
import { visible } from '../../../../kernel/base/visible.ts';
import { sha256 } from '../../../../kernel/crypto/lazy-crypto.ts';
import { BoundedMap } from '../../../../kernel/containers/bounded-map.ts';
import { isInteraction } from '../../../../kernel/interaction.ts';
import { isObject } from '../../../../kernel/message.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import {
  FLOW_BACK,
  FLOW_CANCEL,
  FLOW_COMPLETE,
  FLOW_EDIT,
  FLOW_ENDED,
  FLOW_RESPOND,
  FLOW_START,
} from '../../../../kernel/methods.ts';
import { toPlainObject } from '../../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../../kernel/raw/raw-object.ts';
import { secrets } from '../../../../kernel/secrets/secrets.ts';
import { TargetLayer } from '../../../../kernel/target.ts';
import type { Change, Layer, Target, Watcher } from '../../../../kernel/target.ts';
import { maySee } from '../viewers.ts';
import type { Viewer } from '../viewers.ts';
import type { FlowEntry, FlowFilter, FlowRow, FlowView } from '../../../../kernel/flow/flow-views.ts';

/** The longest unused are forgotten first. */
const MAX_SESSIONS = 500;
const MAX_ENTRIES = 100;
const MAX_TEXT = 300;
/** Longer ids are tokens that hold the session itself, and change with every answer: they are not followed. */
const MAX_ID = 400;
const SHOWN_ID = 12;

/** What happened, by the method: a word for it. */
const WORDS: Readonly<Record<string, string>> = {
  [FLOW_START]: 'start',
  [FLOW_RESPOND]: 'answer',
  [FLOW_BACK]: 'back',
  [FLOW_EDIT]: 'edit',
  [FLOW_CANCEL]: 'cancel',
};

const TONES: Readonly<Record<string, FlowRow['tone']>> = { waiting: 'busy', working: 'good', failed: 'bad' };

type PlayerView = Exchange['client'];

/** When a request came, and how many questions its session had asked by then. */
interface Begun {
  readonly at: number;
  readonly asked: number;
}

class PassingFlow {
  readonly principal: string;
  readonly #id: string;
  readonly #client: string;
  readonly #begun: number;
  #last: number;
  #tool = '';
  #server: string | undefined;
  #state = 'working';
  #asked = '';
  #promptId: unknown;
  /** Grows with each question. */
  asked = 0;
  #cut = 0;
  readonly #entries: FlowEntry[] = [];

  constructor(id: string, { principal, info }: PlayerView, now: number) {
    this.principal = principal;
    this.#id = sha256(id, 'base64url').slice(0, SHOWN_ID);
    this.#client = info.title ?? info.name;
    this.#begun = this.#last = now;
  }

  get isOpen(): boolean {
    return this.#state === 'waiting' || this.#state === 'working';
  }

  note(at: number, what: string, text = ''): void {
    this.#last = Math.max(this.#last, at);
    this.#entries.push({ at, what, key: '', text: toText(text) });
    if (this.#entries.length > MAX_ENTRIES) this.#cut += this.#entries.splice(0, 1).length;
  }

  begin(tool: unknown, server: string | undefined): void {
    this.#tool = toText(tool);
    this.#server = server;
  }

  asks({ message, promptId }: JsonObject, at: number): void {
    const text = toText(message);
    // It was said twice: in an answer, and by a message.
    if (this.#state === 'waiting' && text === this.#asked && promptId === this.#promptId) return;
    this.#state = 'waiting';
    this.#asked = text;
    this.#promptId = typeof promptId === 'string' ? promptId.slice(0, MAX_TEXT) : undefined;
    this.asked++;
    this.note(at, 'asks', text);
  }

  /** The question was answered, unless the next one came before. */
  works(asked: number): void {
    if (this.#state === 'waiting' && this.asked === asked) this.#state = 'working';
  }

  end(state: string, at: number): void {
    if (!this.isOpen) return;
    this.#state = state;
    this.note(at, 'end', state);
  }

  get row(): FlowRow {
    return {
      id: this.#id,
      tool: this.#tool,
      state: this.#state,
      tone: TONES[this.#state] ?? 'calm',
      at: this.#begun,
      last: this.#last,
      about: this.#state === 'waiting' ? this.#asked : '',
      who: visible(loggedPrincipal(this.principal)),
      client: visible(this.#client),
      isStored: false,
    };
  }

  get view(): FlowView {
    return {
      row: this.row,
      facts: this.#server === undefined ? [] : [['Server', this.#server]],
      cut: this.#cut,
      // The next question may come before the reply to an answer.
      entries: this.#entries.toSorted((one, other) => one.at - other.at),
      questions: [],
      waits: [],
      handed: null,
      actions: [],
    };
  }
}

export class PassingFlows {
  readonly #clock: Clock;
  readonly #flows = new BoundedMap<string, PassingFlow>(MAX_SESSIONS);
  readonly layer: Layer = (next) => new PassingLayer(next, this);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The newest first. */
  list(filter: FlowFilter, viewer: Viewer): FlowRow[] {
    const isWanted = ({ principal, isOpen }: PassingFlow): boolean =>
      maySee(viewer, principal) && (filter === 'all' || isOpen === (filter === 'open'));
    return this.#flows
      .entries()
      .flatMap(([, flow]) => (isWanted(flow) ? [flow.row] : []))
      .toReversed();
  }

  find(id: string, viewer: Viewer): FlowView | undefined {
    const found = this.#flows.entries().find(([, flow]) => flow.row.id === id && maySee(viewer, flow.principal));
    return found?.[1].view;
  }

  /** A client asks for something. */
  begin({ params, client }: Exchange): Begun {
    const known = typeof params.sessionId === 'string' ? this.#flows.peek(toKey(params.sessionId, client)) : undefined;
    return { at: this.#clock.now(), asked: known?.asked ?? 0 };
  }

  /** It has its answer. */
  answered({ method, params, client, server }: Exchange, result: JsonObject, begun: Begun): void {
    const flow = this.#flowOf(method === FLOW_START ? result.sessionId : params.sessionId, client);
    if (!flow) return;
    const now = this.#clock.now();
    if (method === FLOW_START) flow.begin(params.toolName, server);
    const isRefused = result.accepted === false;
    const why = isObject(result.validation) ? result.validation.error : undefined;
    const word = WORDS[method];
    if (word !== undefined) flow.note(begun.at, isRefused ? 'refused' : word, isRefused ? String(why ?? '') : '');
    if (method === FLOW_RESPOND && !isRefused) flow.works(begun.asked);
    if (method === FLOW_CANCEL) flow.end('cancelled', now);
    this.#read(flow, { prompt: result.initialPrompt ?? result.currentPrompt });
    if (isObject(result.next))
      this.told(
        String(result.next.method),
        { ...result.next, sessionId: params.sessionId ?? result.sessionId },
        client,
      );
  }

  /** A client was told something. */
  told(method: string, params: JsonObject, client: PlayerView): void {
    const flow = this.#flowOf(params.sessionId, client);
    if (!flow) return;
    if (method !== FLOW_COMPLETE && method !== FLOW_ENDED) return this.#read(flow, params);
    const hasFailed = isObject(params.result) && params.result.success === false;
    flow.end(hasFailed ? 'failed' : 'completed', this.#clock.now());
  }

  #read(flow: PassingFlow, { prompt, nextPrompt }: JsonObject): void {
    const asked = prompt ?? nextPrompt;
    if (isObject(asked)) flow.asks(asked, this.#clock.now());
  }

  #flowOf(id: unknown, client: PlayerView): PassingFlow | undefined {
    if (typeof id !== 'string' || id.length > MAX_ID) return undefined;
    return this.#flows.getOrCreate(toKey(id, client), () => new PassingFlow(id, client, this.#clock.now()));
  }
}

class PassingLayer extends TargetLayer {
  readonly #flows: PassingFlows;

  constructor(target: Target, flows: PassingFlows) {
    super(target);
    this.#flows = flows;
  }

  override handle(exchange: Exchange): Promise<ResultObject> | ResultObject {
    return isInteraction(exchange.method) ? this.#note(exchange) : this.target.handle(exchange);
  }

  override watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    return this.target.watch(listener, watcher && this.#heard(watcher));
  }

  async #note(exchange: Exchange): Promise<ResultObject> {
    const begun = this.#flows.begin(exchange);
    const result = await this.target.handle(exchange);
    this.#flows.answered(exchange, toPlainObject(result), begun);
    return result;
  }

  #heard(watcher: Watcher): Watcher {
    const { client } = watcher;
    return {
      client,
      ...(watcher.ask && {
        ask: (told, signal) => {
          if (isInteraction(told.method)) this.#flows.told(told.method, told.params ?? {}, client);
          return watcher.ask!(told, signal);
        },
      }),
      ...(watcher.notify && {
        notify: (method, params) => {
          if (method === FLOW_ENDED) this.#flows.told(method, params ?? {}, client);
          watcher.notify!(method, params);
        },
      }),
      ...(watcher.isPresent && { isPresent: () => watcher.isPresent!() }),
    };
  }
}

function toKey(id: string, { principal }: PlayerView): string {
  return `${principal}\0${id}`;
}

function toText(text: unknown): string {
  return typeof text === 'string' ? secrets.mask(visible(text.slice(0, 4 * MAX_TEXT))).slice(0, MAX_TEXT) : '';
}
