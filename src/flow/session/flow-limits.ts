// Every limit on what a client, or a flow, can make grow, with its default.
export interface FlowLimits {
  /** Answers per second of one session. */
  respondsPerSecond: number;
  /** Answers that were refused: of one session, and of one question. */
  attempts: number;
  attemptsPerQuestion: number;
  /** Sessions that have not ended: of one principal, and in all. */
  sessionsPerPrincipal: number;
  sessions: number;
  /** Questions of one session. */
  prompts: number;
  /** How long a session may last, however busy it is. */
  durationMs: number;
  /** How long it waits for its user: unless it is told otherwise, and at most. */
  timeoutMs: number;
  maxTimeoutMs: number;
  /** Bytes of an answer, of a file, of what a step returns, and of a whole journal. */
  answerBytes: number;
  fileBytes: number;
  stepBytes: number;
  /** Bytes of an event, and how many of one session are kept before its body waits for them. */
  eventBytes: number;
  earlyEvents: number;
  /** How often questions of one session are handed over from one person to another. */
  handOvers: number;
  /** Bytes of a result that is kept for a client that has not heard of it; a larger one is told once. */
  resultBytes: number;
  journalBytes: number;
  /** Deepest nesting of an answer. */
  depth: number;
  /** How long a step runs, and how long the first question may take, unless the flow says otherwise. */
  stepMs: number;
  firstQuestionMs: number;
  /** How often it is tried to take effects back when a session ends, with growing pauses. */
  undoAttempts: number;
  /** How long a session is kept that no version that is served can go on with. */
  parkedMs: number;
  /** How long it is known that an ended session was there. */
  tombstoneMs: number;
}

const MINUTE = 60_000;
const KiB = 1024;

export const DEFAULT_FLOW_LIMITS: FlowLimits = {
  respondsPerSecond: 10,
  attempts: 100,
  attemptsPerQuestion: 5,
  sessionsPerPrincipal: 20,
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
