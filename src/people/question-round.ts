// Questions for a person whose client cannot be asked directly. A page or the model asks them, and another request
// brings the answers. A round is what one call asks at a time.
import type { Ask } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import { isObject } from '../kernel/message.ts';

/** An answer as in `elicitation/create`. */
export interface RoundAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: JsonObject | undefined;
}

/** The channel of an answer. */
export type AnsweredBy = 'page' | 'relay';

export interface RoundQuestion {
  /** Unique within its round. */
  readonly key: string;
  /** An elicitation, by form or by URL. */
  readonly ask: Ask;
}

export interface QuestionRound {
  /** Short, unguessable and unique per round; names it to the model, in links and in the log. */
  readonly handle: string;
  /** The principal of the call. */
  readonly principal: string;
  readonly questions: readonly RoundQuestion[];
  /** Shown to the person: who asks. */
  readonly about: { tool: string | undefined; server: string | undefined; client: string };
  /** The call belongs to somebody else: the person can decline but not cancel it. */
  readonly isOthers?: boolean | undefined;
  /** The login of the caller; undefined where nobody logs in. */
  readonly user?: string | undefined;
  /** Only a client that the operator trusts got the link. */
  readonly isVouched?: boolean | undefined;
  /** What the call waits for, if the user can do nothing; then there are no questions. */
  readonly waitsFor?: string | undefined;
  /** Those to whom the person can hand the round over, and how. */
  readonly handOver?:
    | { readonly to: readonly string[]; give(to: string): Promise<ClosedRound | { again: QuestionRound }> }
    | undefined;
  /** The person could hand the round over, but that was done too often already. */
  readonly isHandedOverTooOften?: boolean | undefined;
  /** When it was asked, if known. */
  readonly since?: number | undefined;
  readonly expiresAt: number;
  readonly isOpen: boolean;
  /** Takes all answers by key, and who gave them if that is proven. False if someone else was faster or it is too late. */
  answer(answers: Record<string, RoundAnswer>, by: AnsweredBy, who?: string): RoundReceipt | Promise<RoundReceipt>;
}

/** The result of answering: taken or not, refused and asked again, or too late and why. */
export type RoundReceipt = boolean | { again: QuestionRound } | ClosedRound;

/** A closed round, and why it is closed. */
export interface ClosedRound {
  readonly principal: string;
  readonly closed: 'answered' | 'handed-over' | 'withdrawn' | 'expired' | 'ended' | 'paused';
}

/** Whether an answer is instead a request to edit an earlier answer or to go back. The asker handles it. */
export function isEditRequest({ revisable }: Ask, content: unknown): content is JsonObject {
  if (revisable !== true || !isObject(content)) return false;
  const { edit, back, ...rest } = content;
  return Object.keys(rest).length === 0 && (isObject(edit) || back === true || typeof back === 'string');
}
