// Sessions whose state travels with the client. Each request opens a token and seals the next one; nothing stays in this process between
// requests. So a request waits for its steps, which no process could continue later.
import { hash } from 'node:crypto';
import { GatewayError } from '../../kernel/base/errors.ts';
import { toDurationMs } from '../define.ts';
import type { AnyFlow } from '../define.ts';
import { BodyRun } from '../engine/body-run.ts';
import { buildQuestions } from '../engine/build-questions.ts';
import { fold } from '../fold.ts';
import { waitsForPeopleOrEvents, toOwner, isEnded } from '../header.ts';
import type { Header } from '../journal.ts';
import { DEFAULT_FLOW_LIMITS } from '../session/context/flow-limits.ts';
import type { SessionOptions } from '../session/context/session-context.ts';
import type { SessionEvent } from '../session/turn/session-event.ts';
import { Sessions } from '../session/sessions.ts';
import { WarmBody } from '../session/context/warm-bodies.ts';
import type { WarmSession } from '../session/context/warm-bodies.ts';
import { settled } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import { openSealedArgs } from '../session/values/stored-args.ts';
import type { StartRequest } from '../session/context/requests.ts';
import type { StateView } from '../session/verbs/view.ts';
import type { BlobStore, SharedStore, SpentTokens, StoredSession } from '../store/store.ts';
import { RequestStore, EmptyRequestStore } from './request-store.ts';
import type { RequestStoreOptions } from './request-store.ts';
import type { TokenBinding, OpenedToken, Tokens } from './tokens.ts';

export interface TokenSessionsOptions extends Omit<SessionOptions, 'store'> {
  tokens: Tokens;
  /** For files and secrets, which do not go into tokens. */
  shared?: SharedStore | undefined;
  /** Return a session that is too large for a token without one. Default: throw. */
  mayOutgrow?: boolean | undefined;
}

/** An operation on the session of a token. */
type SessionAction = (header: Header, sessions: Sessions) => Promise<Turn>;

/** Who sends the token, with which request. */
export interface Bearer {
  principal: string;
  tool: string;
  method: string;
  args?: unknown;
}

export interface TokenTurn {
  turn: Turn;
  /** For the next request; absent once the session has ended. */
  token?: string;
  /** The current session; absent once it has ended. */
  session?: StoredSession;
}

export class TokenSessions {
  readonly sessions: Sessions;
  readonly #tokens: Tokens;
  readonly #carried: RequestStoreOptions;
  readonly #mayOutgrow: boolean;
  readonly #ends: TokenOutcomes | undefined;

  constructor(flows: Iterable<AnyFlow>, { tokens, shared, mayOutgrow = false, ...options }: TokenSessionsOptions) {
    this.#mayOutgrow = mayOutgrow;
    this.#carried = { shared, clock: options.clock };
    this.#tokens = tokens;
    const all = [...flows];
    const claimOnce = toClaim(shared, longest(all, options));
    // Forks of one session share an id, so no body is kept warm.
    const store = new EmptyRequestStore(undefined, this.#carried);
    this.sessions = new Sessions(all, { ...options, store, warm: 0, claimOnce });
    this.#ends = shared && new TokenOutcomes(shared, this.sessions.context.limits.tombstoneMs);
  }

  /** `onEvent` receives events during the request. */
  async start(request: StartRequest, bearer: Bearer, onEvent?: (event: SessionEvent) => void): Promise<TokenTurn> {
    return this.#travel(undefined, toBinding(bearer), (sessions) => {
      if (onEvent) sessions.on(onEvent);
      return sessions.start(request);
    });
  }

  /** Continues the session of a token: `act` carries out the request. */
  async go(token: string, bearer: Bearer, act: SessionAction): Promise<TokenTurn> {
    const binding = toBinding(bearer);
    const session = await this.#renewed(await this.#tokens.open(token, binding));
    try {
      return await this.#travel(session, binding, (sessions) => act(session.header, sessions));
    } catch (thrown) {
      const header = isSpent(thrown) ? await this.#ends?.get(session.header.id) : undefined;
      if (!header) throw thrown;
      return { turn: await act(header, this.sessions.over(new RequestStore({ header, entries: [] }, this.#carried))) };
    }
  }

  /** The client knows how the session ended. */
  async acknowledge(sessionId: string): Promise<void> {
    await this.#ends?.forget(sessionId);
  }

  async getState(token: string, bearer: Bearer): Promise<StateView> {
    const session = await this.#renewed(await this.#tokens.open(token, toBinding(bearer)));
    const { id: sessionId } = session.header;
    const header = await this.#ends?.get(sessionId);
    const now = header ? { header, entries: [] } : session;
    const request = { principal: bearer.principal, sessionId };
    return this.sessions.over(new RequestStore(now, this.#carried)).getState(request);
  }

  async #travel(
    session: WarmSession | undefined,
    binding: TokenBinding,
    act: (sessions: Sessions) => Promise<Turn>,
  ): Promise<TokenTurn> {
    const spend = session && this.#spending(session);
    const { shared, clock } = this.#carried;
    const store = new RequestStore(session, { shared, clock, onEffect: spend });
    const turn = await settled(await act(this.sessions.over(store)));
    const after = store.session;
    if (!this.#mayOutgrow && after && waitsForPeopleOrEvents(after.header)) {
      throw new GatewayError('FLOW_MISUSED', {
        flow: 'a flow',
        reason: 'an event, or a question to another person, in a token session without a store; give it a store',
      });
    }
    const isOver = !after || isEnded(after.header);
    const token = isOver ? undefined : await this.#sealed(after, binding);
    // A request that changed nothing can be repeated with the same token.
    if (session && after?.header.rev !== session.header.rev) await spend?.();
    if (isOver) {
      if (after) await this.#ends?.keep(after.header);
      return { turn };
    }
    return { turn, session: after, ...(token !== undefined && { token }) };
  }

  /** Spends the token at most once. */
  #spending(session: StoredSession): () => Promise<void> {
    let spent: Promise<boolean> | undefined;
    return async () => {
      spent ??= this.#tokens.spend(session);
      if (!(await spent)) throw refusal('spent');
    };
  }

  async #sealed(session: StoredSession, binding: TokenBinding): Promise<string | undefined> {
    try {
      return await this.#tokens.seal(session, binding);
    } catch (thrown) {
      const isTooLarge = thrown instanceof GatewayError && thrown.details['limit'] === 'tokenBytes';
      if (isTooLarge && this.#mayOutgrow) return undefined;
      throw thrown;
    }
  }

  async #renewed(opened: OpenedToken): Promise<WarmSession> {
    if (!opened.ok) throw refusal(opened.why);
    const { session } = opened;
    return session.header.current.length > 0 ? session : restoreQuestions(this.sessions, session);
  }
}

/** The longest duration of any flow. */
function longest(flows: AnyFlow[], { limits }: SessionOptions): number {
  const durationMs = limits?.durationMs ?? DEFAULT_FLOW_LIMITS.durationMs;
  return Math.max(durationMs, ...flows.map((flow) => toDurationMs(flow, { durationMs })));
}

/** A client can send an older journal, so a shared store must record effects that have begun. */
function toClaim(shared: SpentTokens | undefined, ms: number): (key: string) => Promise<boolean> {
  return async (key) => {
    if (shared) return shared.spend(`once_${key}`, 0, ms);
    const reason = 'an effect that must happen once, in a token session without a store; give it a store';
    throw new GatewayError('FLOW_MISUSED', { flow: 'a flow', reason });
  };
}

function toBinding({ principal, method, tool, args }: Bearer): TokenBinding {
  return { principal: toOwner(principal), method, tool, args };
}

const USED = 'this token was used before';

function isSpent(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.details['reason'] === USED;
}

/** The error says no more about an invalid token. */
function refusal(why: 'invalid' | 'expired' | 'spent'): GatewayError {
  const sessionId = 'in its token';
  if (why === 'invalid') return new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
  if (why === 'expired') return new GatewayError('FLOW_SESSION_EXPIRED', { sessionId });
  return new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state: 'further on', reason: USED });
}

/** An answer follows right after, in the same batch of ticks. */
const ANSWER = 2;

/**
 * Finds the open questions of a session from a token by replaying its body, since they are not in the token: also those that are asked ahead,
 * as in a normal turn. The body then waits there, so that an answer continues it without a second replay.
 */
async function restoreQuestions(sessions: Sessions, session: StoredSession): Promise<WarmSession> {
  const { header, entries } = openSealedArgs(sessions.context, session);
  if (header.state !== 'waiting_user') return session;
  const flow = sessions.flowOf(header);
  const { next } = sessions.explored(flow);
  const { id: sessionId, locale, lastActivityAt: now } = header;
  const { virtual } = sessions.context;
  const folded = fold(entries);
  const run = new BodyRun({ flow, folded, sessionId, locale, virtual, next }, { now, checks: 'off' });
  const rest = await run.nextUnlessStalled(ANSWER);
  // Otherwise the body has changed. The turn that follows detects and reports that.
  if (rest?.kind !== 'asks') return session;
  const waiting = { ...header, current: buildQuestions(run, rest.asks, new Map()) };
  return { header: waiting, entries: session.entries, warm: run.canWait ? new WarmBody(waiting, run) : undefined };
}

/**
 * Keeps the outcome of ended token sessions in the shared store. Their last token is spent, so a client that missed the reply could not
 * learn it otherwise. The header, with the sealed result, is kept until the client has acknowledged it.
 */
class TokenOutcomes {
  readonly #store: BlobStore;
  readonly #ms: number;

  constructor(store: BlobStore, ms: number) {
    this.#store = store;
    this.#ms = ms;
  }

  async keep(header: Header): Promise<void> {
    if (header.outcome !== undefined) await this.#put(header.id, Buffer.from(JSON.stringify(header)));
  }

  async get(id: string): Promise<Header | undefined> {
    const bytes = await this.#store.getBlob(toName(id));
    return bytes?.length ? (JSON.parse(Buffer.from(bytes).toString()) as Header) : undefined;
  }

  forget(id: string): Promise<void> {
    return this.#put(id, new Uint8Array());
  }

  #put(id: string, bytes: Uint8Array): Promise<void> {
    return this.#store.putBlob(toName(id), bytes, this.#ms);
  }
}

function toName(id: string): string {
  return hash('sha256', `mcp-parley/ended\0${id}`, 'hex');
}
