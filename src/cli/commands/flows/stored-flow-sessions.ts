// The sessions in the store of `flows` of a configuration, for the console of `parley serve`. They are read as `parley flows` reads them, and what an
// operator asks is left in the store for the server of the flow.
// 1. The store is open only while something is read or left there: nothing is held for a page that nobody looks at.
// 2. A list is read by one at a time and believed for a while, longer the longer it took. No more than MAX_READ sessions are looked at.
// 3. Answers of callers who log in are theirs: they are not shown, and nobody else answers for them.
import type { FlowsConfig } from '../../../config/config.ts';
import { ENDED_CONDITIONS, OPEN_CONDITIONS } from '../../../flow/header.ts';
import { findListed, leaveAnswers, leaveCancel, leaveRetry } from '../../../flow/operator/leave-request.ts';
import { findSession, findSessions } from '../../../flow/operator/find-sessions.ts';
import type { Question } from '../../../flow/question/question.ts';
import { createSessionContext } from '../../../flow/session/context/session-context.ts';
import { openStoreUrl } from '../../../flow/store/store-url.ts';
import type { FlowStore, ListedSession } from '../../../flow/store/store.ts';
import type { FlowLook, FlowRequest, FlowDesk } from '../../../kernel/flow/flow-desk.ts';
import type { FlowFilter, FlowView, StoredFlows } from '../../../kernel/flow/flow-views.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { unlessLate } from '../../../kernel/base/timing.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { readFields, refusalOf } from './flow-fields.ts';
import { toFlowRow, toFlowView, toShownId } from './flow-rows.ts';

const MAX_ROWS = 200;
const MAX_READ = 20_000;
const BELIEVED_MS = 2000;
/** A list that took a second is believed for ten. */
const REST = 10;
const SLOW_MS = 10_000;
/** At once; more are refused. */
const MAX_OPEN = 8;
const MAX_IDS = 5000;
/** Less of an id is not looked for. */
const MIN_ID = 8;

const CONDITIONS = {
  open: new Set(OPEN_CONDITIONS),
  ended: new Set(ENDED_CONDITIONS),
  all: undefined,
} as const;

interface BelievedList {
  readonly of: FlowsConfig;
  readonly list: Promise<StoredFlows>;
  until: number;
}

export class StoredFlowSessions implements FlowDesk {
  readonly #config: () => FlowsConfig | undefined;
  readonly #clock = systemClock;
  readonly #lists = new Map<FlowFilter, BelievedList>();
  /** By what is shown of them. */
  readonly #ids = new BoundedMap<string, string>(MAX_IDS);
  #open = 0;

  /** `config`: as it is at the moment. */
  constructor(config: () => FlowsConfig | undefined) {
    this.#config = config;
  }

  get isThere(): boolean {
    return this.#config() !== undefined;
  }

  list(filter: FlowFilter): Promise<StoredFlows> {
    const config = this.#config()!;
    const known = this.#lists.get(filter);
    const begun = this.#clock.now();
    if (known?.of === config && begun < known.until) return known.list;
    const believed: BelievedList = {
      of: config,
      until: Infinity,
      list: this.#with(config, { writes: false }, (store) => this.#read(store, filter)).finally(() => {
        const now = this.#clock.now();
        believed.until = now + Math.max(BELIEVED_MS, REST * (now - begun));
      }),
    };
    this.#lists.set(filter, believed);
    return believed.list;
  }

  find(id: string, look: FlowLook): Promise<FlowView | undefined> {
    const config = this.#config()!;
    return this.#with(config, { writes: false }, async (store) => {
      const listed = await this.#findListed(store, id);
      const stored = listed && (await store.load(listed.header.id));
      if (!stored) return undefined;
      const context = createSessionContext({ store, keys: toKeys(config) });
      return toFlowView({ listed, stored, context, look, now: this.#clock.now() });
    });
  }

  async ask(request: FlowRequest, look: FlowLook): Promise<void> {
    const { by } = request;
    await this.#with(this.#config()!, { writes: true }, async (store) => {
      const listed = await this.#findListed(store, request.id);
      const id = listed?.header.id ?? request.id;
      const outside = { store, clock: this.#clock };
      if (request.kind === 'cancel') return leaveCancel(outside, id, `Cancelled by ${by}`);
      if (request.kind === 'retry') return leaveRetry(outside, id, by);
      const { header } = (await store.load(id)) ?? {};
      if (!header) throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId: id });
      const question = (header.current as Question[]).find(({ promptId }) => promptId === request.promptId);
      const reason = !question
        ? 'the question is no longer open'
        : header.handed
          ? 'it has an answer that its server has not taken yet'
          : refusalOf(question, header, look);
      if (reason !== null) throw new GatewayError('FLOW_NOT_POSSIBLE', { sessionId: id, what: 'answered', reason });
      const { promptId } = request;
      return leaveAnswers(outside, id, { by, answers: [{ promptId, value: readFields(question!, request.fields) }] });
    });
    for (const believed of this.#lists.values()) believed.until = 0;
  }

  /** By the beginning of its id, which the store does not look up: what was listed is remembered. */
  async #findListed(store: FlowStore, shownId: string): Promise<ListedSession | undefined> {
    if (shownId.length < MIN_ID) return undefined;
    const known = this.#ids.get(shownId);
    const found =
      known === undefined
        ? await findSession({ browse: paged(store).browse }, shownId)
        : await findListed({ store }, known);
    if (!found || Array.isArray(found)) return undefined;
    this.#ids.set(shownId, found.header.id);
    return found;
  }

  async #read(store: FlowStore, filter: FlowFilter): Promise<StoredFlows> {
    const { browse, state } = paged(store);
    const { sessions, fitting, all } = await findSessions({ browse }, { conditions: CONDITIONS[filter] }, MAX_ROWS);
    const context = createSessionContext({ store, keys: toKeys(this.#config()) });
    for (const { header } of sessions) this.#ids.set(toShownId(header.id), header.id);
    return { rows: sessions.map(({ header }) => toFlowRow(header, context)), fitting, all, isCut: state.isCut };
  }

  async #with<T>(
    config: FlowsConfig,
    { writes }: { writes: boolean },
    work: (store: FlowStore) => Promise<T>,
  ): Promise<T> {
    if (this.#open >= MAX_OPEN)
      throw new GatewayError('TOO_MANY', { what: 'looks at the store of flows', limit: MAX_OPEN });
    this.#open++;
    const { store: url, prefix, fileKey: key } = config;
    const worked = openStoreUrl(url, { prefix, key, readOnly: !writes })
      .then((store) => closedAfter(work, store))
      .finally(() => this.#open--);
    const outcome = await unlessLate(
      worked.then((value) => ({ value })),
      this.#clock,
      SLOW_MS,
    );
    if (outcome) return outcome.value;
    throw new GatewayError('STORE_FAILED', { reason: 'it does not answer' });
  }
}

/** Its sessions, at most MAX_READ; calls come between two pages. */
function paged(store: FlowStore): {
  browse: (id?: string) => AsyncGenerator<ListedSession[]>;
  state: { isCut: boolean };
} {
  const state = { isCut: false };
  async function* browse(id?: string): AsyncGenerator<ListedSession[]> {
    let read = 0;
    for await (const page of store.browse!(id)) {
      if ((state.isCut = read >= MAX_READ)) return;
      read += page.length;
      yield page;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return { browse, state };
}

async function closedAfter<T>(work: (store: FlowStore) => Promise<T>, store: FlowStore): Promise<T> {
  try {
    if (!store.browse) throw new GatewayError('STORE_UNUSABLE', { reason: 'its sessions cannot be listed' });
    return await work(store);
  } finally {
    await store.close();
  }
}

function toKeys(config: FlowsConfig | undefined): string[] | undefined {
  return config && config.keys.length > 0 ? [...config.keys] : undefined;
}
