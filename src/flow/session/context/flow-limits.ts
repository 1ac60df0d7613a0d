// The limits on everything that a client or a flow can make grow, with their defaults.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { toSpanText } from '../../authoring/span.ts';
import type { AnyFlow } from '../../define.ts';
import type { SessionLimits } from '../../store/store.ts';

export interface FlowLimits {
  /** Answers per second in one session. */
  respondsPerSecond: number;
  /** Rejected answers in one session, and to one question. */
  attempts: number;
  attemptsPerQuestion: number;
  /** Open sessions of one principal, and in total. */
  sessionsPerPrincipal: number;
  /** Open sessions of all callers without a login at one network address. */
  sessionsPerNetwork: number;
  sessions: number;
  /** Questions in one session. */
  prompts: number;
  /** How long a session may last in total. */
  durationMs: number;
  /** How long it waits for its user: the default, and the maximum. */
  timeoutMs: number;
  maxTimeoutMs: number;
  /** Bytes of an answer, of a file, and of a step's result. */
  answerBytes: number;
  fileBytes: number;
  stepBytes: number;
  /** Bytes of an event, and how many events a session keeps before its body waits for them. */
  eventBytes: number;
  earlyEvents: number;
  /** How often questions of one session may be handed over. */
  handOvers: number;
  /** Bytes of a result that is kept until the client acknowledges it. A larger one is sent once. */
  resultBytes: number;
  journalBytes: number;
  /** Deepest nesting of an answer. */
  depth: number;
  /** How long a step, and the first question, may take unless the flow sets its own limit. */
  stepMs: number;
  firstQuestionMs: number;
  /** Attempts to undo effects when a session ends, with growing pauses. */
  undoAttempts: number;
  /** How long a parked session is kept. */
  parkedMs: number;
  /** How long an ended session is remembered. */
  tombstoneMs: number;
}

const MINUTE = 60_000;
const KiB = 1024;

export const DEFAULT_FLOW_LIMITS: FlowLimits = {
  respondsPerSecond: 10,
  attempts: 100,
  attemptsPerQuestion: 5,
  sessionsPerPrincipal: 20,
  sessionsPerNetwork: 1000,
  sessions: 10_000,
  prompts: 100,
  durationMs: 60 * MINUTE,
  timeoutMs: 5 * MINUTE,
  maxTimeoutMs: 24 * 60 * MINUTE,
  answerBytes: 100 * KiB,
  fileBytes: 10 * KiB * KiB,
  stepBytes: 256 * KiB,
  eventBytes: 256 * KiB,
  earlyEvents: 20,
  handOvers: 20,
  resultBytes: 512 * KiB,
  journalBytes: KiB * KiB,
  depth: 32,
  stepMs: MINUTE,
  firstQuestionMs: MINUTE,
  undoAttempts: 10,
  parkedMs: 7 * 24 * 60 * MINUTE,
  tombstoneMs: 5 * MINUTE,
};

/** What a store checks when a session is created that is due then. */
export function toSessionLimits(limits: FlowLimits, dueAt: number | undefined): SessionLimits {
  const { sessionsPerPrincipal: perPrincipal, sessionsPerNetwork: perNetwork, sessions: total } = limits;
  return { perPrincipal, perNetwork, total, dueAt };
}

export function tooManySessions(
  limits: FlowLimits,
  limit: 'sessionsPerPrincipal' | 'sessionsPerNetwork' | 'sessions',
): GatewayError {
  const what = `no more than ${limits[limit]} sessions at once`;
  return new GatewayError('FLOW_LIMIT', { what, limit, retryAfterMs: 1000 });
}

/** A flow must not wait less for its users than its author wrote. */
export function checkTimeout({ name, timeoutMs = 0 }: AnyFlow, { maxTimeoutMs }: FlowLimits): void {
  if (timeoutMs <= maxTimeoutMs) return;
  const reason = `${toSpanText(timeoutMs)} is longer than maxTimeoutMs of the limits, ${toSpanText(maxTimeoutMs)}; raise that, or give the question a timeout`;
  throw new GatewayError('BAD_OPTION', { option: `timeout of flow ${name}`, reason });
}

/**
 * How long an ended session is remembered. One that was allowed to last longer than others is remembered for as long again: its client may be
 * away for as long as the work takes.
 */
export function toTombstoneMs(
  { tombstoneMs, durationMs }: FlowLimits,
  { deadline, createdAt }: { deadline: number; createdAt: number },
): number {
  const lastedMs = deadline - createdAt;
  return lastedMs > durationMs ? Math.max(tombstoneMs, lastedMs) : tombstoneMs;
}
