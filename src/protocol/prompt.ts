// A prompt of MCP Flow 0.1.0 (docs/flow-protocol.md) on the wire.
import type { JsonObject } from './message.ts';

/** The seven types of MCP Flow. */
export type PromptType = 'text' | 'choice' | 'confirm' | 'number' | 'date' | 'file' | 'custom';

export interface Choice {
  value: unknown;
  label: string;
  hint?: string | undefined;
}

/** Rules that a client can check itself. `min` and `max` are lengths, values, counts or dates. */
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

/** MCP Flow's prompt object; only `schema` is our addition. */
export interface Prompt {
  type: PromptType;
  message: string;
  placeholder?: string | undefined;
  defaultValue?: unknown;
  choices?: Choice[] | undefined;
  validation?: Validation | undefined;
  /** The JSON Schema of a custom answer. */
  schema?: JsonObject | undefined;
}

export interface PromptStep {
  current: number;
  total?: number | undefined;
  message?: string | undefined;
}
