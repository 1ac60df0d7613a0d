// Questions that wait for a person who cannot be asked over the client's wire. They are put by a page, or in words by the
// model, and answered from outside the call that asked. A round is what one call asks at a time.
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';

/** As `elicitation/create` answers. */
export interface RoundAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: JsonObject | undefined;
}

/** By which way an answer came. Only what a page brought is a person's own word. */
export type AnsweredBy = 'page' | 'relay';

export interface RoundQuestion {
  /** Unique within its round. */
  readonly key: string;
  /** An elicitation, by form or by URL. */
  readonly ask: Ask;
}

export interface QuestionRound {
  /** Short and unguessable; names the round to the model, in links and in the log. A new one for every round. */
  readonly handle: string;
  /** Whose call it is. */
  readonly principal: string;
  readonly questions: readonly RoundQuestion[];
  /** For the person: who wants to know. */
  readonly about: { tool: string | undefined; server: string | undefined; client: string };
  /** The call is somebody else's: the person who is asked can decline, but not cancel it. */
  readonly isOthers?: boolean | undefined;
  /** What it waits for, where that is nothing the user can do: then there are no questions. */
  readonly waitsFor?: string | undefined;
  readonly expiresAt: number;
  readonly isOpen: boolean;
  /** Answers by key, all of them. False when somebody else was faster, or it is too late: then nothing has changed. */
  answer(answers: Record<string, RoundAnswer>, by: AnsweredBy): RoundReceipt | Promise<RoundReceipt>;
}

/** What became of answers: taken or not, refused and asked again, or too late, and why. */
export type RoundReceipt = boolean | { again: QuestionRound } | ClosedRound;

/** A round that takes no answer any more, where the holder of its link may know why. */
export interface ClosedRound {
  readonly principal: string;
  readonly closed: 'answered' | 'handed-over' | 'withdrawn' | 'expired' | 'ended' | 'paused';
}
