// What a program gives that plays an interactive tool for a person.
import type { JsonObject } from '../../protocol/message.ts';
import type { Complaint, Prompt, Step } from '../question/question.ts';

/** What `onPrompt` gives when the person does not want to go on. */
export const CANCEL: unique symbol = Symbol('cancel');

export interface PromptContext {
  progress?: Step | undefined;
  /** What was wrong with the last answer. */
  problem?: Complaint | undefined;
}

export interface PlayOptions {
  /** Answers a question; CANCEL ends the session. */
  onPrompt(prompt: Prompt, context: PromptContext): unknown;
  /** Tells the person what went wrong. */
  onFeedback?: ((text: string) => void) | undefined;
  context?: JsonObject | undefined;
  timeout?: number | undefined;
}
