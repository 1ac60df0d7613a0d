// The journal of a session: a header that changes, and entries that are only ever appended. They hold everything about the session, so
// that another process, or another version of the program, can continue it.
// 1. Entries are plain JSON and are never overwritten: going back and changing an answer are entries too.
// 2. Secrets are never in the journal; an answer that is a secret is a reference.

import type { FlowState } from '../mcp/flow/flow-states.ts';
import type { Prompt } from '../kernel/form/prompt.ts';

/**
 * The channel that carried a question and its answer:
 * - `flow`: the methods of MCP Flow, `interaction.…`;
 * - `elicit`: a form that the client shows while its call waits (`elicitation/create`);
 * - `mrtr`: a round: the reply to a call asks, and the client repeats the call with the answers (multi round-trip requests, 2026-07-28);
 * - `page`: Parley's own page in a browser;
 * - `args`: an argument of the call that started the session;
 * - `terminal`: `parley run` and `parley flows`.
 * Nothing writes `task`, `app` and `relay`, but tokens number the channels (compact-session.ts), so these keep their places.
 */
export type Via = 'flow' | 'elicit' | 'mrtr' | 'task' | 'app' | 'page' | 'relay' | 'args' | 'terminal';

/** Who gave an answer. A model, or an argument, never counts where a human must answer. */
export type AnswerSource = 'human' | 'ui' | 'model' | 'args' | 'default';

/** The part of a session that changes. `rev` grows by one with every commit. */
export interface Header {
  /** `session_` and 128 random bits in base64url. */
  id: string;
  tool: string;
  /** The version of the flow that ran the last turn. */
  version: string;
  /** A hash of the owner's principal, never its name, behind the salt of the store (header.ts). */
  principal: string;
  /** Where many callers have the same principal: what the sessions of this one are counted and listed by, instead of the principal. */
  share?: string | undefined;
  state: FlowState;
  rev: number;
  createdAt: number;
  lastActivityAt: number;
  /** Moves to `timeoutMs` after every answer, but never past `deadline`. */
  expiresAt: number;
  timeoutMs: number;
  deadline: number;
  rounds: number;
  prompts: number;
  attempts: number;
  via: Via;
  locale?: string | undefined;
  /** The open questions, as they were asked: one or more in `waiting_user`, empty in every other state. */
  current: unknown[];
  /** Sleeps and events that it waits for. */
  waits?: Wait[] | undefined;
  /** A process runs steps while questions are open. Answers and events that arrive are written to the journal for that process. */
  busy?: true | undefined;
  /** How many times something was written for the process that runs the steps. */
  left?: number | undefined;
  /** Why it ended, where the state does not say so: `expired`, `effect_unknown`, … */
  reason?: string | undefined;
  /** How it ended, until its client has acknowledged it (session/ending/ended-record.ts). */
  outcome?: string | undefined;
  /** A short form of its journal, kept after its end (session/ending/ended-record.ts). */
  trail?: string | undefined;
  /** A fingerprint of tool and arguments, for a client that may find it again by its own start id or by calling the tool again. */
  started?: string | undefined;
  /** Warnings that were sent since the last activity. */
  warned?: number | undefined;
  /** Approximate bytes of the journal. */
  size?: number | undefined;
  /** The change to make once its effects are undone. */
  pending?: PendingChange | undefined;
  /** Effects that are done, but that a new version runs only after the open questions. */
  unasked?: string[] | undefined;
  /** The served version cannot continue it, so it waits for one that can. */
  parked?: { reason: string; at: number } | undefined;
  /** A request that an operator left in the store for the process that serves the session. */
  handed?: OperatorRequest | undefined;
  /** Effects that could not be undone when it ended. */
  notUndone?: string[] | undefined;
  /** The number of answers in the second that began at `from`. */
  burst?: { from: number; count: number } | undefined;
}

/** The members that every turn writes. */
type Later = 'current' | 'reason' | 'pending' | 'unasked' | 'waits' | 'busy' | 'warned' | 'burst';

/** Sets every member that a turn writes, and lists them one by one: adding members later, or a spread, is slower. */
export function createHeader(begin: Omit<Header, Later>): Header {
  return {
    id: begin.id,
    tool: begin.tool,
    version: begin.version,
    principal: begin.principal,
    state: begin.state,
    rev: begin.rev,
    createdAt: begin.createdAt,
    lastActivityAt: begin.lastActivityAt,
    expiresAt: begin.expiresAt,
    timeoutMs: begin.timeoutMs,
    deadline: begin.deadline,
    rounds: begin.rounds,
    prompts: begin.prompts,
    attempts: begin.attempts,
    via: begin.via,
    locale: begin.locale,
    size: begin.size,
    current: [],
    reason: undefined,
    pending: undefined,
    unasked: undefined,
    waits: undefined,
    busy: undefined,
    warned: undefined,
    burst: undefined,
  };
}

export interface OperatorRequest {
  /** Answers to open questions. Empty: try the session again. */
  answers: { promptId: string; value?: unknown }[];
  /** The name of the operator. */
  by: string;
}

/** A sleep, or an event. */
export interface Wait {
  key: string;
  kind: 'sleep' | 'event';
  /** When the sleep ends, or the event times out. */
  until?: number | undefined;
}

/** A session ends early: its body is told, and its effects are undone. */
export interface EarlyEnd {
  kind: 'cancel' | 'fail';
  /** Becomes `reason` of the header. */
  reason?: string | undefined;
  /** The failure that the client sees. */
  failure?: { name: string; message: string; data?: unknown } | undefined;
  /** How many attempts to undo left something behind. */
  tries?: number | undefined;
  /** The served version cannot undo its effects, so it waits for one that can. */
  parked?: Header['parked'];
}

type PendingChange =
  | EarlyEnd
  /** The entry to append once every effect after its question is undone. */
  | { kind: 'cut' | 'edit'; entry: JournalEntry };

export interface StartEntry {
  t: 'start';
  input: unknown;
  /** Names of the arguments to seal before this entry is stored. Never stored itself. */
  held?: string[] | undefined;
  /** What the client sent besides the input. */
  context?: unknown;
  client?: { name?: string | undefined; version?: string | undefined } | undefined;
  /** Seeds the randomness that the body sees. */
  seed: string;
  ts: number;
}

/** Reason of a `rej` entry whose question was withdrawn, and not answered. */
export const WITHDRAWN = 'withdrawn';

/** The kind of an answer that came as an argument, before its question was asked. */
export const PREFILLED = '';

export interface AnswerEntry {
  t: 'ans';
  /** Key of the question, with `#n` from its second use on. */
  k: string;
  /** The number of the attempt, from 1; 0 if the question was not asked. */
  a: number;
  /** Who answered, if not the caller. */
  who?: string | undefined;
  /** Kind of the question; `PREFILLED` if it was not asked yet. */
  ty: string;
  /** The answer; absent if it was declined, left out or timed out (`no`). */
  v?: unknown;
  no?: 'declined' | 'cancelled' | 'timeout' | 'unavailable' | undefined;
  src: AnswerSource;
  via: Via;
  /** A fingerprint of the question's text, for consent and questions that only a human may answer. */
  f?: string | undefined;
  /** A new version asked this before an effect that was already done. */
  early?: true | undefined;
  /** When the user answered, by the client's clock, and metadata from the client. */
  at?: number | undefined;
  meta?: Record<string, unknown> | undefined;
  /** A fingerprint of everything that was shown; see `toQuestionPin`. */
  p?: string | undefined;
  /** The prompt as it was shown. Left out of tokens to save space. */
  q?: Prompt | undefined;
  ts: number;
  /** An earlier answer has changed, so this one is valid only if the question is the same. Set by fold(), never stored. */
  moved?: true | undefined;
  /** How the question came to the person who answered. Set by fold(), never stored. */
  hands?: readonly HandOver[] | undefined;
}

/** A question was handed from one person to another. */
export interface HandOver {
  by: string;
  to: string;
}

/** An effect is about to begin. */
export interface IntentEntry {
  t: 'int';
  k: string;
  /** The idempotency key, the same on every attempt. */
  idem: string;
  /** It can be undone. */
  undo?: true | undefined;
  /** Not an effect, but a sleep or the timeout of an event. */
  sleep?: true | undefined;
  ts: number;
}

export interface StepEntry {
  t: 'step';
  k: string;
  v?: unknown;
  e?: { name: string; message: string; data?: unknown } | undefined;
  /** How many attempts it took. */
  att: number;
  /** As in an answer. */
  early?: true | undefined;
  ts: number;
}

/** An event that was delivered. */
export interface EventEntry {
  t: 'evt';
  /** Key of the event, with `#n` from its second use on. */
  k: string;
  v?: unknown;
  /** It did not arrive in time. */
  no?: 'timeout' | undefined;
  ts: number;
}

export type JournalEntry =
  | StartEntry
  | AnswerEntry
  | IntentEntry
  | StepEntry
  | EventEntry
  /** An effect was undone. */
  | { t: 'undo'; k: string; ts: number }
  /** The user went back to this question: its answer and all later entries are dropped. */
  | { t: 'cut'; k: string; ts: number }
  /** An earlier answer was changed; later answers that are still valid stay. */
  | { t: 'edit'; k: string; v: unknown; src: AnswerSource; ts: number }
  /** The branch that `ask.version(id)` took when the body first reached it. */
  | { t: 'ver'; id: string; on: boolean; ts: number }
  /** An answer was rejected, or a question withdrawn. Its attempt number is not used again. */
  | { t: 'rej'; k: string; a: number; why: string; ts: number }
  /** The question was handed to another person. */
  | { t: 'hand'; k: string; to: string; by: string; ts: number }
  /** The session ends early: from here on only cleanup steps of the body run. */
  | { t: 'end'; why: string; ts: number };
