// What the header of a session says: whether it has ended, whose it is, who is asked, what it waits for, and when it is due; and how a
// commit changes it. All of it is computed from the header alone, so that it can be asked in every process without running the body.
import { hash } from 'node:crypto';
import { callerOfClient } from '../kernel/exchange.ts';
import type { ClientView } from '../kernel/exchange.ts';
import { isAnonymous, LOCAL } from '../kernel/base/anonymous.ts';
import { BoundedMap } from '../kernel/containers/bounded-map.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import type { EarlyEnd, Header, JournalEntry } from './journal.ts';
import type { Question } from './question/question.ts';

const ENDS: ReadonlySet<string> = new Set(['completed', 'cancelled', 'error']);

export function isEnded({ state }: Pick<Header, 'state'>): boolean {
  return ENDS.has(state);
}

/** Defined while the session is being ended. For its client it has ended already. */
export function earlyEndOf({ pending }: Pick<Header, 'pending'>): EarlyEnd | undefined {
  return pending?.kind === 'cancel' || pending?.kind === 'fail' ? pending : undefined;
}

/** The reason that the body sees. */
export function endReason({ kind, reason }: EarlyEnd): string {
  return kind === 'cancel' ? 'cancelled' : (reason ?? 'failed');
}

/** The header that a client sees: a session that is being ended has ended. */
export function toClientHeader(header: Header, ending = earlyEndOf(header)): Header {
  if (!ending) return header;
  const state = ending.kind === 'cancel' ? 'cancelled' : 'error';
  return { ...header, state, current: [], waits: undefined, busy: undefined, reason: ending.reason };
}

/** Applies the patch of a commit, the same way in every store. Keeps id, principal and createdAt. An end clears open questions, waits and pending changes. */
export function patchHeader(before: Header, patch: Partial<Header>): Header {
  const header = { ...before };
  const { id, principal, createdAt, rev } = before;
  // Key by key, because a second spread is several times slower, and this runs twice in every turn.
  for (const name in patch) (header as unknown as Record<string, unknown>)[name] = patch[name as keyof Header];
  header.id = id;
  header.principal = principal;
  header.createdAt = createdAt;
  header.rev = rev + 1;
  if (isEnded(header)) {
    header.current = [];
    header.pending = undefined;
    header.waits = undefined;
    header.busy = undefined;
  }
  return header;
}

const MAX_OWNERS = 10_000;
const owners = new BoundedMap<string, string>(MAX_OWNERS);

/**
 * A hash of the principal, so that stores never hold its name. The salt of the store stands in front of it, so that a table of guesses serves for
 * one store only. Sessions in tokens, and in stores without a salt, have none.
 */
export function toOwner(principal: string, salt = ''): string {
  const toHash = () => {
    const text = `mcp-parley/flow-principal\0${salt === '' ? '' : `${salt}\0`}${principal}`;
    return `${salt === '' ? '' : `${salt}.`}${hash('sha256', text, 'base64url').slice(0, 22)}`;
  };
  return owners.getOrCreate(salt === '' ? principal : `${salt}\0${principal}`, toHash);
}

/** Whether the header names this principal as the owner. */
export function isOwner({ principal: owner }: Pick<Header, 'principal'>, principal: string): boolean {
  const end = owner.indexOf('.');
  return owner === toOwner(principal, end < 0 ? '' : owner.slice(0, end));
}

/**
 * What a session of a caller without a login is counted and listed by, so that nobody takes the room of the others.
 * All stateless ones are one principal: a session belongs to it, so that its holder can come back from another network, but it counts for the
 * network address. A caller with a connection or a handshake of its own is a principal of its own; it also counts for its address, because
 * one address can open many. Undefined for a caller with a login, or without an address.
 */
export function shareOf(client: Pick<ClientView, 'principal' | 'connection'>): string | undefined {
  const { principal, connection } = client;
  if ((principal !== LOCAL && !isAnonymous(principal)) || connection?.address === undefined) return undefined;
  return `${LOCAL}\0${callerOfClient(client)}`;
}

/** As a header has it: the network, and the principal behind a slash where it is one of many of that network (`networkOfShare`). */
export function toStoredShare(principal: string, share: string, salt: string | undefined): string {
  const network = toOwner(share, salt);
  return isAnonymous(principal) ? `${network}/${toOwner(principal, salt)}` : network;
}

/** The part of a share that many callers have in common, with the slash behind it; undefined if it has none. */
export function networkOfShare({ share }: Pick<Header, 'share'>): string | undefined {
  const end = share?.indexOf('/') ?? -1;
  return end < 0 ? undefined : share!.slice(0, end + 1);
}

/** The open questions that the caller may answer. */
export function callerQuestions({ current }: Pick<Header, 'current'>): Question[] {
  return (current as Question[]).filter(({ person }) => !person || person.orCaller === true);
}

/** The open questions that a person is asked who is not the caller. */
export function questionsFor({ current }: Header, principal: string): Question[] {
  return (current as Question[]).filter(({ person }) => person?.principal === principal);
}

/** The people whom the session waits for. */
export function peopleOf({ current }: Header): string[] {
  return [...new Set((current as Question[]).flatMap(({ person }) => (person ? [person.principal] : [])))];
}

/** Whether the principal is asked a question, or has answered one. */
export function isParticipant(
  { header, entries }: { header: Header; entries: readonly JournalEntry[] },
  principal: string,
): boolean {
  return questionsFor(header, principal).length > 0 || entries.some((one) => one.t === 'ans' && one.who === principal);
}

/** Who answers, as stored in the journal; undefined for the caller. Throws if the principal may not answer. */
export function findAnswerer(header: Header, { person, promptId }: Question, principal: string): string | undefined {
  if (person?.principal === principal) return principal;
  if ((!person || person.orCaller) && isOwner(header, principal)) return undefined;
  const { id: sessionId, state } = header;
  const reason = person
    ? `the question ${promptId} is for ${person.principal} to answer`
    : `the question ${promptId} is for another person`;
  throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state, reason });
}

/** The person knows of the question. */
export function wasNotified({ person }: Question): boolean {
  return person?.told !== undefined;
}

/** The same questions are open. */
export function hasSameQuestions(one: Header, other: Header): boolean {
  const idsOf = ({ current }: Header) => (current as Question[]).map(({ promptId }) => promptId).join();
  return idsOf(one) === idsOf(other);
}

/** No process runs it: it asks or waits. The last process may still hold its lease. */
export function isAtRest(header: Header): boolean {
  const { current, waits, busy } = header;
  return !isEnded(header) && busy === undefined && (current.length > 0 || waits !== undefined);
}

/** No process runs it and no question is open: a sleep or an event continues it. */
export function isIdle(header: Header): boolean {
  return isAtRest(header) && header.current.length === 0;
}

/** Something other than the caller's answer may continue it, perhaps in another process. */
export function waitsForOthers({ waits, busy, current }: Pick<Header, 'waits' | 'busy' | 'current'>): boolean {
  return waits !== undefined || busy === true || (current as Question[]).some(({ person }) => person !== undefined);
}

/** It waits for an event or another person. */
export function waitsForPeopleOrEvents({ waits = [], current }: Header): boolean {
  return waits.some(({ kind }) => kind === 'event') || (current as Question[]).some(({ person }) => person);
}

/** The earliest deadline of a question or wait; Infinity without any deadline. */
export function nextDeadline({ current, waits = [] }: Pick<Header, 'current' | 'waits'>): number {
  let at = Infinity;
  for (const { until } of current as Question[]) if (until !== undefined && until < at) at = until;
  for (const { until } of waits) if (until !== undefined && until < at) at = until;
  return at;
}

/** The latest deadline of a question. */
function lastUntil({ current }: Pick<Header, 'current'>): number {
  let at = 0;
  for (const { until = 0 } of current as Question[]) if (until > at) at = until;
  return at;
}

/** A question or wait has timed out. */
export function hasOverdue(header: Header, now: number): boolean {
  return nextDeadline(header) <= now;
}

/** When the next notice to a person is due. */
export function nextNoticeAt({ current }: Pick<Header, 'current'>): number {
  let at = Infinity;
  for (const { person } of current as Question[]) if (person?.tellAt !== undefined) at = Math.min(at, person.tellAt);
  return at;
}

const MAX_NOTICE_MS = 30_000;

/** When a fifth of the timeout is left, but at most 30 s before expiry. */
export function toWarningAt({ expiresAt, timeoutMs }: Pick<Header, 'expiresAt' | 'timeoutMs'>): number {
  return expiresAt - Math.min(timeoutMs / 5, MAX_NOTICE_MS);
}

/** When it is due before it expires, or expires. There is no warning if no question is open. */
export function toDueAt(header: Pick<Header, 'expiresAt' | 'timeoutMs' | 'current' | 'warned' | 'waits'>): number {
  const warning = header.warned || header.current.length === 0 ? Infinity : toWarningAt(header);
  return Math.min(header.expiresAt, warning, nextDeadline(header), nextNoticeAt(header));
}

/**
 * Activity renews the full timeout, up to the deadline. A question that may wait longer extends it; a session that also waits for others has
 * only the deadline.
 */
export function toExpiry(
  header: Pick<Header, 'timeoutMs' | 'deadline' | 'waits' | 'busy' | 'current'>,
  now: number,
): Pick<Header, 'lastActivityAt' | 'expiresAt' | 'warned'> {
  const { timeoutMs, deadline } = header;
  const expiresAt = waitsForOthers(header)
    ? deadline
    : Math.min(Math.max(now + timeoutMs, lastUntil(header)), deadline);
  return { lastActivityAt: now, expiresAt, warned: undefined };
}

export const OPEN_CONDITIONS = ['waiting', 'working', 'parked', 'ending'] as const;
export const ENDED_CONDITIONS = ['completed', 'cancelled', 'failed', 'expired'] as const;

export type Condition = (typeof OPEN_CONDITIONS)[number] | (typeof ENDED_CONDITIONS)[number];

/** The condition of a session in one word, for operators and metrics. */
export function conditionOf(header: Header): Condition {
  const { state, reason, parked } = header;
  if (state === 'completed' || state === 'cancelled') return state;
  if (state === 'error') return reason === 'expired' ? 'expired' : 'failed';
  const ending = earlyEndOf(header);
  if (parked || ending?.parked) return 'parked';
  if (ending) return 'ending';
  return state === 'waiting_user' ? 'waiting' : 'working';
}

export function parkedReason(header: Header): string | undefined {
  return (header.parked ?? earlyEndOf(header)?.parked)?.reason;
}
