// Options of questions, named as in terminal prompts and forms.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject } from '../../protocol/message.ts';
import type { Complaint } from '../question/question.ts';
import type { Span } from './span.ts';
import type { Words } from './messages.ts';

/** Returns what is wrong, for the user, or nothing if the value is valid. */
type Validate<T> = (
  value: T,
  context: { answers: Readonly<Record<string, unknown>> },
) => string | Complaint | undefined | void;

export interface FieldOptions<T> {
  /** The text of the question. Default: the label. */
  message?: Words;
  /** A short name. Default: the key as words. */
  label?: string;
  help?: string;
  placeholder?: string;
  /** Used if there is no answer. */
  default?: T;
  /** False: the answer may be left out, and is undefined then. */
  required?: boolean;
  validate?: Validate<T>;
}

export interface AskOptions<T> extends FieldOptions<T> {
  /** Only a person may answer: no model and no argument. */
  by?: 'human';
  /** Never asked together with another question. */
  alone?: boolean;
  /**
   * May be asked together with the question before it, as no answer and no argument makes it unnecessary. Needs an explored flow, and no
   * part of it may depend on an answer.
   */
  ahead?: boolean;
  /** How long the question waits, and what happens then. Default: as long as its session. */
  timeout?: Span;
  onTimeout?: 'default' | 'cancel' | 'error';
  /** `throw`: if the user cancels this question, the body can catch the error. Default: the session ends. */
  onCancel?: 'throw';
  /** How MCP Flow delivers the question: `prompt`, by a request even if it is the first question; `continue`, as a continuation. */
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
  /** MIME types, such as `image/*`, or file extensions, such as `.csv`. */
  accept?: string[];
}

type Scalar = string | number | boolean;
export type ChoiceOption = Scalar | { value: unknown; label?: string; hint?: string };
export type AnySchema = StandardSchemaV1 | JsonObject;
