// What an author may say about a question. The names are those that terminal prompts and forms use.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject } from '../../protocol/message.ts';
import type { Complaint } from '../question/question.ts';
import type { Span } from './span.ts';
import type { Words } from './messages.ts';

/** What is wrong, in words for the user; nothing where all is well. */
export type Validate<T> = (
  value: T,
  context: { answers: Readonly<Record<string, unknown>> },
) => string | Complaint | undefined | void;

export interface FieldOptions<T> {
  /** The question. Default: the label. */
  message?: Words;
  /** A short name. Default: the key in words. */
  label?: string;
  help?: string;
  placeholder?: string;
  /** Counts where nothing is answered. */
  default?: T;
  /** False: may be left out, then it is undefined. */
  required?: boolean;
  validate?: Validate<T>;
}

export interface AskOptions<T> extends FieldOptions<T> {
  /** Only a person's own word counts, not a model's and no argument. */
  by?: 'human';
  /** Travels with no other question. */
  alone?: boolean;
  /**
   * May be asked in one round with the question before it: no answer and no argument makes it needless. Only where the flow was
   * explored, and nothing that depends on an answer is in it.
   */
  ahead?: boolean;
  /** How long it waits, and what happens then. Default: as long as its session. */
  timeout?: Span;
  onTimeout?: 'default' | 'cancel' | 'error';
  /** `throw`: the user calling off this question is an error that the body can catch. Default: the session ends. */
  onCancel?: 'throw';
  /** How the native wire hands it over: `prompt`, by a request even if it is the first question; `continue`, as that. */
  deliver?: 'prompt' | 'continue';
}

export interface TextRules {
  /** In characters. */
  min?: number;
  max?: number;
  pattern?: string | RegExp;
  format?: 'email' | 'uri';
}

export interface NumberRules {
  min?: number;
  max?: number;
  integer?: boolean;
}

/** Days as YYYY-MM-DD. */
export interface DateRules {
  min?: string;
  max?: string;
}

export interface CountRules {
  min?: number;
  max?: number;
}

export interface FileRules {
  maxBytes?: number;
  /** MIME types, such as `image/*`, or ends of names, such as `.csv`. */
  accept?: string[];
}

export type Scalar = string | number | boolean;
export type ChoiceOption = Scalar | { value: unknown; label?: string; hint?: string };
export type AnySchema = StandardSchemaV1 | JsonObject;
