// A prompt of MCP Flow 0.1.0, as it travels.
import type { JsonObject } from './message.ts';

/** The seed's seven types. */
export type PromptType = 'text' | 'choice' | 'confirm' | 'number' | 'date' | 'file' | 'custom';

export interface Choice {
  value: unknown;
  label: string;
  hint?: string | undefined;
}

/** The rules of a question that a client can check beforehand. `min` and `max` are lengths, values, counts or dates. */
export interface Validation {
  required?: boolean | undefined;
  pattern?: string | undefined;
  min?: number | string | undefined;
  max?: number | string | undefined;
  format?: 'email' | 'uri' | undefined;
  integer?: boolean | undefined;
  maxBytes?: number | undefined;
  accept?: string[] | undefined;
}

/** The seed's prompt object, with nothing in it that the seed does not know but `schema`. */
export interface Prompt {
  type: PromptType;
  message: string;
  placeholder?: string | undefined;
  defaultValue?: unknown;
  choices?: Choice[] | undefined;
  validation?: Validation | undefined;
  /** JSON Schema of a custom answer. */
  schema?: JsonObject | undefined;
}

export interface PromptStep {
  current: number;
  total?: number | undefined;
  message?: string | undefined;
}
