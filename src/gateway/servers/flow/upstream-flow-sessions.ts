// Tracks which client plays which session of a Flow server, and routes the server's messages.
// 1. A message goes only to the client that last acted on its session; one for an unknown session goes nowhere.
// 2. A message that the server sends after an answer is delivered after that answer.
// 3. For a client that cannot receive messages, the latest one is kept and returned with the next answer, as `next`.
// 4. An answer that names no prompt belongs to the one that its client had been sent when it arrived: a second click must not answer the
//    next question. If the client had not acknowledged that prompt by then, the server is told, because requests can overtake each other
//    and a consent counts only after it.
import { nextArrival } from '../../../kernel/arrival.ts';
import type { Ask, ClientView } from '../../../kernel/exchange.ts';
import { UNACKNOWLEDGED } from '../../../kernel/interaction.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { isObject } from '../../../kernel/message.ts';
import {
  FLOW_BACK,
  FLOW_CANCEL,
  FLOW_COMPLETE,
  FLOW_CONTINUE,
  FLOW_EDIT,
  FLOW_RESPOND,
  FLOW_START,
  FLOW_STATE,
  FLOW_WITHDRAWN,
} from '../../../kernel/methods.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { PromptTrail } from '../../../mcp/flow/prompt-trail.ts';
import type { SentEntry } from '../../../mcp/flow/prompt-trail.ts';
import { toAcknowledged } from '../../../mcp/flow/prompt-inbox.ts';

/** A server's message about a session: `interaction.prompt`, `continue` or `complete`. */
export interface SessionMessage {
  method: string;
  params: JsonObject;
  onReceived?: Ask['onReceived'];
}

/** The client that plays a session. `tell` is undefined if it cannot receive messages. */
export interface Player {
  readonly client: ClientView;
  tell: ((told: SessionMessage, signal?: AbortSignal) => Promise<JsonObject>) | undefined;
  /** Sends a notification. */
  notify?: ((method: string, params: JsonObject) => void) | undefined;
}

interface Session {
  readonly id: string;
  player: Player;
  kept: SessionMessage | undefined;
  onKept: (() => void) | undefined;
  /** The prompts sent to each client, if they have ids. */
  sent: BoundedMap<unknown, SentPrompts>;
}

interface SentPrompts {
  player: Player;
  trail: PromptTrail<{ promptId: string }>;
}

/** Limits the sessions whose end is never reported; the oldest are dropped first. */
const MAX_SESSIONS = 20_000;
/** Clients of one user that take turns in one session. */
const MAX_CLIENTS = 8;
/** How long an answer waits for the next message. */
const NEXT_MS = 20_000;
const RETRY_PROMPT_MS = 500;
/** Requests that close the open question. */
const ENDING = new Set([FLOW_RESPOND, FLOW_CANCEL, FLOW_BACK]);
/** Requests that are followed by a message. */
const LEADING = new Set([FLOW_START, FLOW_RESPOND, FLOW_BACK, FLOW_EDIT]);

export class UpstreamFlowSessions {
  readonly #clock: Clock;
  readonly #sessions = new BoundedMap<string, Session>(MAX_SESSIONS);
  readonly #starting = new Set<Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The open sessions of this client. */
  of(client: ClientView): string[] {
    return this.#sessions.entries().flatMap(([id, { player }]) => (player.client === client ? [id] : []));
  }

  async start(player: Player, call: () => Promise<JsonObject>): Promise<JsonObject> {
    const started = call().then((result) => {
      if (typeof result.sessionId === 'string') this.#claim(result.sessionId, player);
      return result;
    });
    this.#starting.add(started);
    try {
      const result = await started;
      const session = this.#sessions.get(String(result.sessionId));
      if (session) sending(session, result.initialPrompt, nextArrival());
      return session ? await this.#withNext(FLOW_START, session, result) : result;
    } finally {
      this.#starting.delete(started);
    }
  }

  async goOn(
    player: Player,
    { method, params, arrival = nextArrival() }: { method: string; params: JsonObject; arrival?: number | undefined },
    call: (params: JsonObject) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const sessionId = String(params.sessionId);
    const isNew = !this.#sessions.peek(sessionId);
    const session = this.#claim(sessionId, player);
    let result: JsonObject;
    try {
      result = await call(method === FLOW_RESPOND ? await withPromptId(params, session, arrival) : params);
    } catch (thrown) {
      if (isNew) this.forget(sessionId); // the server may not have it
      throw thrown;
    }
    if (method === FLOW_CANCEL) this.forget(sessionId);
    // The question is asked again under an id that the client may not have yet.
    if (result.accepted === false) session.sent.delete(recipientOf(player));
    else if (ENDING.has(method)) withdraw(session, { method, by: player });
    // The client chose the next question itself, so its id is unknown.
    if (method === FLOW_CONTINUE && isObject(params.nextPrompt)) session.sent.clear();
    sending(session, result.currentPrompt, player.tell && nextArrival());
    return this.#withNext(method, session, result);
  }

  /** Delivers a server's message to its client. */
  async deliver(told: SessionMessage, signal?: AbortSignal): Promise<JsonObject> {
    const session = await this.#find(String(told.params.sessionId));
    await new Promise((resolve) => setImmediate(resolve)); // an answer may be on its way
    if (session.player.tell) return this.#tell(session, told, signal);
    session.kept = told;
    session.onKept?.();
    if (!isEnd(told)) return toAcknowledged(told.method, told.params);
    // It travels with an answer that may get lost, so the server must keep it.
    throw new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: 'an acknowledgement of the end' });
  }

  /** The client that plays the session, if any. */
  playerOf(sessionId: unknown): Player | undefined {
    return this.#sessions.get(String(sessionId))?.player;
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  #claim(sessionId: string, player: Player): Session {
    const known = this.#sessions.get(sessionId);
    if (known) {
      known.player = player;
      return known;
    }
    const session: Session = {
      id: sessionId,
      player,
      kept: undefined,
      onKept: undefined,
      sent: new BoundedMap(MAX_CLIENTS),
    };
    this.#sessions.set(sessionId, session);
    return session;
  }

  /** A server may send a prompt before its answer names the new session. */
  async #find(sessionId: string): Promise<Session> {
    const known = this.#sessions.get(sessionId);
    if (!known) await Promise.allSettled(this.#starting);
    const session = known ?? this.#sessions.get(sessionId);
    if (session) return session;
    throw new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: 'interaction of a session that is not known here' });
  }

  /** Adds the next message to the answer if the client needs it there, and removes it otherwise. */
  async #withNext(method: string, session: Session, { next, ...result }: JsonObject): Promise<JsonObject> {
    if (!session.player.tell) return { ...result, ...(await this.#nextFor(method, session, next, result)) };
    const told = toTold(next, session.id);
    if (told) setImmediate(() => void this.#tell(session, told).catch(() => {})); // the answer does not matter
    return result;
  }

  async #tell(session: Session, told: SessionMessage, signal?: AbortSignal): Promise<JsonObject> {
    if (isEnd(told)) this.forget(session.id);
    const sent = sending(session, promptOf(told.params), undefined);
    const onReceived = (arrival: number): void => void (sent && (sent.acknowledgedAt ??= arrival));
    const answer = await session.player.tell!({ ...told, onReceived }, signal);
    onReceived(nextArrival()); // a client in this process says no more than that it has it
    return answer;
  }

  async #nextFor(method: string, session: Session, next: unknown, result: JsonObject): Promise<JsonObject> {
    const isFirst = method === FLOW_START; // no earlier question exists that it may answer
    if (isObject(next)) {
      sending(session, promptOf(next), isFirst ? nextArrival() : undefined);
      return { next };
    }
    const isLeading = LEADING.has(method) && result.initialPrompt === undefined;
    if (isLeading && !session.kept)
      await this.#keptWithin(session, result.accepted === false ? RETRY_PROMPT_MS : NEXT_MS);
    const { kept } = session;
    session.kept = undefined;
    if (kept && isEnd(kept)) this.forget(session.id);
    if (kept) sending(session, promptOf(kept.params), isFirst ? nextArrival() : undefined);
    if (kept) return { next: { state: stateAfter(kept), method: kept.method, ...kept.params } };
    return isLeading ? { next: { state: result.accepted === false ? 'waiting_user' : 'processing' } } : {};
  }

  #keptWithin(session: Session, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#clock.after(ms, resolve);
      session.onKept = () => {
        stop();
        resolve();
      };
    });
  }
}

/** Without a connection, only the user identifies the client. */
function recipientOf({ client, tell }: Player): unknown {
  return tell ? client : client.principal;
}

/** Closes the question in the user's other clients. */
function withdraw({ id: sessionId, sent }: Session, { method, by }: { method: string; by: Player }): void {
  const reason = method === FLOW_CANCEL ? 'cancelled' : 'moved';
  for (const [to, { player, trail }] of sent.entries()) {
    if (to === recipientOf(by)) continue;
    player.notify?.(FLOW_WITHDRAWN, { sessionId, promptId: trail.last?.promptId, reason });
    sent.delete(to);
  }
}

function promptOf({ prompt, nextPrompt }: JsonObject): unknown {
  return prompt ?? nextPrompt;
}

/** `acknowledgedAt`: the client has it with the reply to its own request. */
function sending(
  { sent, player }: Session,
  prompt: unknown,
  acknowledgedAt: number | undefined,
): SentEntry<{ promptId: string }> | undefined {
  if (!isObject(prompt)) return undefined;
  const { promptId } = prompt;
  if (typeof promptId !== 'string') {
    sent.delete(recipientOf(player));
    return undefined;
  }
  const { trail } = sent.getOrCreate(recipientOf(player), () => ({ player, trail: new PromptTrail() }));
  return trail.send({ promptId }, acknowledgedAt);
}

async function withPromptId(params: JsonObject, { sent, player }: Session, arrival: number): Promise<JsonObject> {
  if (params.promptId !== undefined || sent.size === 0) return params;
  const own = sent.get(recipientOf(player));
  if (!own) throw nothingSent(params, 'no question of this session was sent to this client');
  // Lets an acknowledgement that came before the answer be handled. Later ones do not count.
  if (own.trail.isUnsure) await new Promise((resolve) => setImmediate(resolve));
  const meant = own.trail.sentBefore(arrival);
  if (!meant) throw nothingSent(params, 'this client was sent no question of this session before it answered');
  const { promptId } = meant.prompt;
  if (meant.isSure) return { ...params, promptId };
  const meta = isObject(params._meta) ? params._meta : {};
  return { ...params, promptId, _meta: { ...meta, [UNACKNOWLEDGED]: true } };
}

function nothingSent({ sessionId }: JsonObject, why: string): GatewayError {
  const reason = `${why}; name a promptId, or call ${FLOW_STATE} first`;
  return new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state: 'waiting_user', reason });
}

function isEnd({ method }: SessionMessage): boolean {
  return method === FLOW_COMPLETE;
}

function toTold(next: unknown, sessionId: unknown): SessionMessage | undefined {
  if (!isObject(next) || typeof next.method !== 'string') return undefined;
  const { state: _, method, ...params } = next;
  return { method, params: { sessionId, ...params } };
}

function stateAfter({ method, params }: SessionMessage): string {
  if (!isEnd({ method, params })) return 'waiting_user';
  return isObject(params.result) && params.result.success === false ? 'error' : 'completed';
}
