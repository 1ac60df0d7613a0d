// The requests to sessions. Each names its principal: a session belongs to one principal, and looks unknown to all others.
import type { AskFailure } from '../../authoring/ask-failure.ts';
import type { AnswerSource, Via } from '../../journal.ts';
import type { Prompt, PromptStep } from '../../../kernel/form/prompt.ts';

export interface StartRequest {
  principal: string;
  /** What its sessions are counted by, where many callers have the same principal (`shareOf` in header.ts). */
  share?: string | undefined;
  tool: string;
  /** Arguments: input of the tool, and answers to its questions. */
  args?: Record<string, unknown> | undefined;
  context?: unknown;
  timeoutMs?: number | undefined;
  /** An id that the client chose. A second start with it returns the same session. */
  startId?: string | undefined;
  /** Chosen by a channel whose caller may come back, so its outcome is kept. */
  sessionId?: string | undefined;
  via?: Via | undefined;
  locale?: string | undefined;
  client?: { name?: string | undefined; version?: string | undefined } | undefined;
}

export interface SessionRequest {
  principal: string;
  sessionId: string;
}

/** A question as it was sent to a client. */
export interface SentPrompt {
  promptId: string;
  key: string;
  pin?: string | undefined;
}

export interface GivenAnswer {
  /** The question; default: the first open one. */
  promptId?: string | undefined;
  /** Without a `promptId`: the question that was last sent to this client; null if there was none. */
  sent?: SentPrompt | null | undefined;
  /** A gateway added the `promptId`, because it was last sent to a client that has not acknowledged it. */
  isUnacknowledged?: boolean | undefined;
  value?: unknown;
  /** When the user answered, by the client's clock, and metadata from the client. */
  at?: number | undefined;
  meta?: Record<string, unknown> | undefined;
  /** Why there is no answer. */
  no?: AskFailure | undefined;
}

export interface AnswerRequest extends SessionRequest {
  answers: GivenAnswer[];
  /** The request may answer every question: it comes from an operator or a timeout. */
  isForAll?: boolean | undefined;
  /** Who answers. Default: the user. */
  src?: AnswerSource | undefined;
  via?: Via | undefined;
  /** Nobody vouches for the client: this is not a human approval. */
  isUnproven?: boolean | undefined;
}

/** An event. The program decides who may deliver it; no principal is checked. */
export interface DeliverRequest {
  sessionId: string;
  /** The key of the event. Without `#n`: the next one that was not delivered. */
  event: string;
  value?: unknown;
}

export interface CancelRequest extends SessionRequest {
  reason?: string | undefined;
}

export interface BackRequest extends SessionRequest {
  /** The question to go back to; default: the last answered one. */
  key?: string | undefined;
}

/** Hands a question to another person. */
export interface HandOverRequest extends SessionRequest {
  promptId: string;
  /** The principal of that person. */
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
