// What can be asked of a session. Who asks is always said: a session belongs to one principal, and looks unknown to all others.
import type { AskFailure } from '../../authoring/ask-failure.ts';
import type { AnswerSource, Via } from '../../journal.ts';
import type { Prompt, PromptStep } from '../../../protocol/prompt.ts';

export interface StartRequest {
  principal: string;
  tool: string;
  /** Arguments: input of the tool, and answers to its questions. */
  args?: Record<string, unknown> | undefined;
  context?: unknown;
  timeoutMs?: number | undefined;
  /** The client's own id: started again with the same, it is the same session. */
  startId?: string | undefined;
  /** Chosen by a channel whose caller may come back for it: how it ends is kept for them. */
  sessionId?: string | undefined;
  via?: Via | undefined;
  locale?: string | undefined;
  client?: { name?: string | undefined; version?: string | undefined } | undefined;
}

export interface SessionRequest {
  principal: string;
  sessionId: string;
}

/** A question as a client has got it. */
export interface SentPrompt {
  promptId: string;
  key: string;
  pin?: string | undefined;
}

export interface GivenAnswer {
  /** Which question; default: the first that waits. */
  promptId?: string | undefined;
  /** Where it is not named: the question that was sent last to the client that answers; null where there was none. */
  sent?: SentPrompt | null | undefined;
  /** A gateway has named it, because it was sent last to a client that has not acknowledged it. */
  isUnacknowledged?: boolean | undefined;
  value?: unknown;
  /** When the user answered, by the client's clock, and what the client says of it. */
  at?: number | undefined;
  meta?: Record<string, unknown> | undefined;
  /** It was not answered, and why. */
  no?: AskFailure | undefined;
}

export interface AnswerRequest extends SessionRequest {
  answers: GivenAnswer[];
  /** Whoever brings it may answer everything: an operator, or the end of a time. */
  isForAll?: boolean | undefined;
  /** Whose word it is. Default: the user's. */
  src?: AnswerSource | undefined;
  via?: Via | undefined;
}

/** Something that has happened outside. Whoever may call this is the program's business: no principal is looked at. */
export interface DeliverRequest {
  sessionId: string;
  /** The key of the event; in a loop, without a number, the next that was not delivered. */
  event: string;
  value?: unknown;
}

export interface BackRequest extends SessionRequest {
  /** To which question; default: the last that was answered. */
  key?: string | undefined;
}

/** Gives a question of the session to somebody else. */
export interface HandOverRequest extends SessionRequest {
  promptId: string;
  /** The principal who is asked from now on. */
  to: string;
}

export interface EditRequest extends SessionRequest {
  key: string;
  value: unknown;
  src?: AnswerSource | undefined;
}

/** The owner of a session speaks for its tool. */
export interface ContinueRequest extends SessionRequest {
  prompt?: Prompt | undefined;
  progress?: PromptStep | undefined;
}

export interface CompleteRequest extends SessionRequest {
  result: unknown;
  summary?: string | undefined;
}
