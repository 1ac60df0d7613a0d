// Delivers events to sessions: from the program (`sessions.deliver`), or from a client that has the URL of the event.
// 1. An event is committed once, together with the turn it leads to. A repeated delivery with the same content changes nothing.
// 2. An event that does not fit is rejected, and nothing is written.
// 3. An event that arrives before its body waits for it is kept, up to `limits.earlyEvents`.
import { isDeepStrictEqual } from 'node:util';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { IncomingEvent } from '../../engine/run-input.ts';
import { isEnded, isAtRest } from '../../header.ts';
import type { JournalEntry, EventEntry, Header } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import type { SessionHost } from '../turn/turn-request.ts';
import type { EventAddress } from '../values/event-url.ts';
import { rejectHostileValue } from '../verbs/receive-answers.ts';
import type { DeliverRequest } from '../context/requests.ts';

export interface DeliveryResult {
  /** The key, with `#n` from its second use on. */
  event: string;
  /** It was already delivered, with the same content. */
  again?: true | undefined;
}

const MAX_TRIES = 20;
/** Tries for an idle session whose lease has not been released yet. */
const TRIES_AT_REST = 10;
const MAX_COUNTED = 10_000;

type EventHost = Pick<SessionHost, 'context' | 'load' | 'flowOf' | 'runTurn' | 'emit'>;

/** The program decides who may call this. */
export function deliverEvent(
  sessions: EventHost,
  { sessionId, event, value }: DeliverRequest,
): Promise<DeliveryResult> {
  return attempt(sessions, { sessionId, read: () => value }, (stored) => {
    const { last, next } = toKeys(stored.entries, event);
    if (stored.header.waits?.some(({ key }) => key === next)) return next;
    // A repeated delivery counts as the same event, unless the body waits for another one.
    if (last && (last.no || isDeepStrictEqual(last.v ?? null, value ?? null))) return last.k;
    refuseTooEarly(sessions, stored);
    return next;
  });
}

/** Accepts only an event that is awaited, or a repeated delivery. `read` throws if the body is invalid, which counts as a try. */
export function deliverToUrl(
  sessions: EventHost,
  { sessionId, key }: EventAddress,
  read: () => unknown,
): Promise<DeliveryResult> {
  return attempt(sessions, { sessionId, read }, ({ header, entries }) => {
    const isKnown = header.waits?.some((wait) => wait.key === key) || deliveredAs(entries, key) !== undefined;
    if (!isKnown) throw refused(header, `the event ${key} is no longer awaited`);
    return key;
  });
}

type ToKey = (stored: StoredSession) => string;

async function attempt(
  sessions: EventHost,
  { sessionId, read }: { sessionId: string; read: () => unknown },
  keyIn: ToKey,
): Promise<DeliveryResult> {
  const { limits } = sessions.context;
  refuseTooOften(sessions, sessionId);
  const value = read();
  rejectHostileValue(value, sessionId, { ...limits, answerBytes: limits.eventBytes, fileBytes: limits.eventBytes });
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const stored = await sessions.load({ sessionId, mayHave: () => true });
    if (isEnded(stored.header)) throw refused(stored.header, 'it has ended');
    const event = keyIn(stored);
    const before = deliveredAs(stored.entries, event);
    if (before) return toAgain(stored.header, before, value);
    const mayBeHeld = !isAtRest(stored.header) || tries >= TRIES_AT_REST;
    if (await runTurn(sessions, { stored, mayBeHeld }, { t: 'arr', k: event, v: value })) return { event };
  }
  throw new GatewayError('FLOW_LIMIT', { what: 'too many at once', limit: 'respondsPerSecond', retryAfterMs: 100 });
}

interface Receiver {
  stored: StoredSession;
  /** Another process may hold the session, and then handles the event. */
  mayBeHeld: boolean;
}

async function runTurn(
  sessions: EventHost,
  { stored, mayBeHeld }: Receiver,
  arriving: IncomingEvent,
): Promise<boolean> {
  sessions.context.warmBodies.delete(stored.header.id);
  const flow = sessions.flowOf(stored.header);
  const outside = { stored: true, incoming: [arriving], fromOutside: true, mayBeHeld };
  const turn = await sessions.runTurn({ flow, ...stored, ...outside });
  // Its own check has thrown, which has failed the session: the event was not taken.
  if (turn?.failure && arriving.verdict !== 'accepted') {
    throw new GatewayError('FLOW_FAILED', { tool: flow.name, reason: `the event ${arriving.k} could not be checked` });
  }
  // The process that handles the event announces the turn.
  if (turn && turn.header.left === stored.header.left) sessions.emit({ kind: 'turn', turn });
  return turn !== undefined;
}

function deliveredAs(entries: JournalEntry[], key: string): EventEntry | undefined {
  return entries.find((entry): entry is EventEntry => entry.t === 'evt' && entry.k === key);
}

/** The last delivered event of this name, and the key of the next one. */
function toKeys(entries: JournalEntry[], event: string): { last: EventEntry | undefined; next: string } {
  let [last, next] = [undefined as EventEntry | undefined, event];
  for (let use = 2; ; use++) {
    const known = deliveredAs(entries, next);
    if (!known) return { last, next };
    [last, next] = [known, `${event}#${use}`];
  }
}

function toAgain(header: Header, before: EventEntry, value: unknown): DeliveryResult {
  if (before.no) throw refused(header, `the event ${before.k} came too late`);
  if (isDeepStrictEqual(before.v ?? null, value ?? null)) return { event: before.k, again: true };
  throw refused(header, `the event ${before.k} was already delivered with other content`);
}

function refuseTooEarly({ context: { limits } }: EventHost, { header, entries }: StoredSession): void {
  const delivered = entries.filter(({ t }) => t === 'evt').length;
  if (delivered < limits.earlyEvents) return;
  const what = `no more than ${limits.earlyEvents} events that a session does not wait for`;
  throw new GatewayError('FLOW_LIMIT', { sessionId: header.id, what, limit: 'earlyEvents' });
}

const bursts = new WeakMap<object, BoundedMap<string, { from: number; count: number }>>();

/** A rejected event changes nothing in the session, so the tries are counted here. */
function refuseTooOften({ context }: EventHost, sessionId: string): void {
  let counts = bursts.get(context.store);
  if (!counts) bursts.set(context.store, (counts = new BoundedMap(MAX_COUNTED)));
  const now = context.clock.now();
  const known = counts.get(sessionId);
  const burst = known && now - known.from < 1000 ? known : { from: now, count: 0 };
  counts.set(sessionId, burst);
  if (++burst.count <= context.limits.respondsPerSecond) return;
  const retryAfterMs = burst.from + 1000 - now;
  const what = 'too many events in a second';
  throw new GatewayError('FLOW_LIMIT', { sessionId, what, limit: 'respondsPerSecond', retryAfterMs });
}

function refused({ id: sessionId, state }: Header, reason: string): GatewayError {
  return new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state, reason });
}
