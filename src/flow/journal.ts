// What a flow has been told and has done: a header that changes, and entries that are only ever added. Everything a session
// is can be told from them, in another process and by another version of the program.
// 1. Entries are plain JSON. Nothing in them is ever overwritten: going back and changing an answer are entries too.
// 2. Secrets never enter: an answer that is one stands here as a reference.

import type { Prompt } from '../protocol/prompt.ts';

/** The seed's seven states. */
export type FlowState = 'idle' | 'active' | 'waiting_user' | 'processing' | 'completed' | 'cancelled' | 'error';

/** By which way a question and its answer travelled. */
export type Via = 'flow' | 'elicit' | 'mrtr' | 'task' | 'app' | 'page' | 'relay' | 'args' | 'terminal';

/** Whose word an answer is. A model's, or one that came as an argument, never counts where a human is wanted. */
export type AnswerSource = 'human' | 'ui' | 'model' | 'args' | 'default';

/** The part of a session that changes; guarded by `rev`, which grows by one with every commit. */
export interface Header {
  /** `session_` and 128 random bits. */
  id: string;
  tool: string;
  /** The version of the function that last went on with the session. */
  version: string;
  /** Owner: a hash of the principal, never its name. */
  principal: string;
  state: FlowState;
  rev: number;
  createdAt: number;
  lastActivityAt: number;
  /** Slides with every answer, by `timeoutMs`; never past `deadline`. */
  expiresAt: number;
  timeoutMs: number;
  deadline: number;
  rounds: number;
  prompts: number;
  attempts: number;
  via: Via;
  locale?: string | undefined;
  /** The questions that wait for an answer, as they were put: one or more in `waiting_user`, none in any other state. */
  current: unknown[];
  /** What it waits for beside answers. */
  waits?: Wait[] | undefined;
  /** Steps run in some process while it waits: what comes meanwhile is written down, and left to that process. */
  busy?: true | undefined;
  /** How often something was written down and left to the process that is at work. */
  left?: number | undefined;
  /** Why it ended, where its state does not say so: `expired`, `effect_unknown`, … */
  reason?: string | undefined;
  /** How it ended, as session/outcome.ts writes it, until its client has acknowledged that. */
  outcome?: string | undefined;
  /** What is kept of its journal after it has ended, as session/ends/trail.ts writes it. */
  trail?: string | undefined;
  /** Fingerprint of tool and arguments, where its client may come back for it: with an id of its own, or by calling the tool again. */
  started?: string | undefined;
  /** Warnings before expiry that were sent for this span of waiting. */
  warned?: number | undefined;
  /** Bytes of the journal, as JSON. */
  size?: number | undefined;
  /** What is to be done after its effects have been taken back, while that goes on. */
  pending?: PendingChange | undefined;
  /** Effects that were done and that the questions that wait come before, in a new version. */
  unasked?: string[] | undefined;
  /** It cannot go on with the version that is served, and waits for one that knows it. */
  parked?: { reason: string; at: number } | undefined;
  /** What somebody who looks after the store has left for the process that serves the session. */
  handed?: OperatorRequest | undefined;
  /** Effects that could not be taken back when it ended, however often it was tried. */
  notUndone?: string[] | undefined;
  /** Answers within the second that began at `from`. */
  burst?: { from: number; count: number } | undefined;
}

/** What every turn writes. */
type Later = 'current' | 'reason' | 'pending' | 'unasked' | 'waits' | 'busy' | 'warned' | 'burst';

/**
 * What every turn writes has its place in a header from the start: an object that gets new members again and again is slow. Member by member,
 * because a spread after other members is slower still.
 */
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
  /** Answers to questions that wait; none: it is to be tried again. */
  answers: { promptId: string; value?: unknown }[];
  /** Who has left it. */
  by: string;
}

/** A sleep, or an event. */
export interface Wait {
  key: string;
  kind: 'sleep' | 'event';
  /** When a sleep is over, or an event comes too late. */
  until?: number | undefined;
}

/** A session that ends before its time: the body is told, and what it has done is taken back. */
export interface EarlyEnd {
  kind: 'cancel' | 'fail';
  /** Of the header, once it has ended. */
  reason?: string | undefined;
  /** What the client is told of a failure. */
  failure?: { name: string; message: string; data?: unknown } | undefined;
  /** How often undoing was tried, and has left something. */
  tries?: number | undefined;
  /** The version that is served does not tell how; it waits for one that does. */
  parked?: Header['parked'];
}

export type PendingChange =
  | EarlyEnd
  /** The entry that takes hold when all that lies after its question is undone. */
  | { kind: 'cut' | 'edit'; entry: JournalEntry };

export interface StartEntry {
  t: 'start';
  input: unknown;
  /** Arguments that are sealed when this is written down. Never in a store. */
  held?: string[] | undefined;
  /** What the client said beside the input. */
  context?: unknown;
  client?: { name?: string | undefined; version?: string | undefined } | undefined;
  /** Of the virtual randomness inside the body. */
  seed: string;
  ts: number;
}

/** Why a question that nobody has answered is put no more: the user went back. */
export const WITHDRAWN = 'withdrawn';

/** Kind of an answer that came as an argument, before anybody asked. */
export const PREFILLED = '';

export interface AnswerEntry {
  t: 'ans';
  /** Key of the question, with `#n` from its second use in a loop on. */
  k: string;
  /** Which attempt it was, from 1; 0 where it was not asked. */
  a: number;
  /** Who has answered, where that is not the caller. */
  who?: string | undefined;
  /** Kind of the question; `PREFILLED` before it was asked. */
  ty: string;
  /** The answer; absent where it was declined, left out or timed out (`no`). */
  v?: unknown;
  no?: 'declined' | 'cancelled' | 'timeout' | 'unavailable' | undefined;
  src: AnswerSource;
  via: Via;
  /** Of what was asked, where the words matter: consent, and questions for a human. */
  f?: string | undefined;
  /** A new version asked it before an effect that had been done by then. */
  early?: true | undefined;
  /** When the user answered, by the client's clock, and what the client says of it. */
  at?: number | undefined;
  meta?: Record<string, unknown> | undefined;
  /** Fingerprint of all that was shown; see question/pin.ts. */
  p?: string | undefined;
  /** The prompt as it was shown. Not in tokens, which have no room for it. */
  q?: Prompt | undefined;
  ts: number;
  /** An earlier answer was changed since: it counts again only for the question that was shown. Found by reading, never written. */
  moved?: true | undefined;
}

/** An effect is about to begin; written before it does. */
export interface IntentEntry {
  t: 'int';
  k: string;
  /** The idempotency key that goes with it, the same on every try. */
  idem: string;
  /** It can be taken back. */
  undo?: true | undefined;
  /** No effect: it only waits, for its time or for an event. */
  sleep?: true | undefined;
  ts: number;
}

export interface StepEntry {
  t: 'step';
  k: string;
  v?: unknown;
  e?: { name: string; message: string; data?: unknown } | undefined;
  /** How often it was tried. */
  att: number;
  /** As of an answer. */
  early?: true | undefined;
  ts: number;
}

/** Something that happened outside, and was delivered. */
export interface EventEntry {
  t: 'evt';
  /** Key of the event, with `#n` from its second use in a loop on. */
  k: string;
  v?: unknown;
  /** It has not come in time. */
  no?: 'timeout' | undefined;
  ts: number;
}

export type JournalEntry =
  | StartEntry
  | AnswerEntry
  | IntentEntry
  | StepEntry
  | EventEntry
  /** An effect was taken back. */
  | { t: 'undo'; k: string; ts: number }
  /** Back to before this question: its answer and the later ones hold no more. */
  | { t: 'cut'; k: string; ts: number }
  /** An earlier answer was changed; later ones that still hold are kept. */
  | { t: 'edit'; k: string; v: unknown; src: AnswerSource; ts: number }
  /** The branch that a patch marker in the body took when it was first met. */
  | { t: 'ver'; id: string; on: boolean; ts: number }
  /** An answer that was refused, or a question that was withdrawn: neither comes again under the same number. */
  | { t: 'rej'; k: string; a: number; why: string; ts: number }
  /** The question is somebody else's now. */
  | { t: 'hand'; k: string; to: string; by: string; ts: number }
  /** The session ends before its time: what the body asks from here on is refused, except for its cleanup. */
  | { t: 'end'; why: string; ts: number };

/** It is being ended, and is over for its client. */
export function earlyEndOf({ pending }: Pick<Header, 'pending'>): EarlyEnd | undefined {
  return pending?.kind === 'cancel' || pending?.kind === 'fail' ? pending : undefined;
}

/** As the body is told. */
export function endReason({ kind, reason }: EarlyEnd): string {
  return kind === 'cancel' ? 'cancelled' : (reason ?? 'failed');
}

/** A header as its client sees it: one that is being ended has ended. */
export function toClientHeader(header: Header, ending = earlyEndOf(header)): Header {
  if (!ending) return header;
  const state = ending.kind === 'cancel' ? 'cancelled' : 'error';
  return { ...header, state, current: [], waits: undefined, busy: undefined, reason: ending.reason };
}
