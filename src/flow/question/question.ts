// A question as it is put: plain JSON, the same for every channel. It lies in the header of its session while it waits, so that
// it can be shown again, and an answer checked, without running the body.
import type { JsonObject } from '../../protocol/message.ts';

/** The seed's seven types. */
export type PromptType = 'text' | 'choice' | 'confirm' | 'number' | 'date' | 'file' | 'custom';

/** What an author can ask for. On the wire `choices` and `form` are `custom`. */
export type Kind = PromptType | 'choices' | 'form';

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

export interface Step {
  current: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** Why an answer was refused. */
export interface Complaint {
  error: string;
  suggestion?: string | undefined;
}

export interface Question {
  /** `<key>~<attempt>`: new for every attempt, never used twice in a session. */
  promptId: string;
  key: string;
  attempt: number;
  kind: Kind;
  prompt: Prompt;
  /** A short name for forms and pages; default: the key in words. */
  label?: string | undefined;
  help?: string | undefined;
  /** Fields of a form, by name. */
  fields?: Record<string, Field> | undefined;
  progress?: Step | undefined;
  /** Only a person's own word counts. */
  by?: 'human' | undefined;
  /** Must not travel through a model, a form of the client, or a log. */
  secret?: true | undefined;
  /** Travels with no other question. */
  alone?: true | undefined;
  /** What the user calling it off, or its time running out, does. Default: the session ends; an error of the body's. */
  onCancel?: 'throw' | undefined;
  onTimeout?: 'default' | 'cancel' | 'error' | undefined;
  /** How the native wire hands it over, where the author minds. */
  deliver?: 'prompt' | 'continue' | undefined;
  /** Fingerprint of the words, where an answer is consent to them. */
  consent?: string | undefined;
  /** What was wrong with the last answer. */
  complaint?: Complaint | undefined;
  /** When it stops waiting, where that is sooner than its session. */
  until?: number | undefined;
  /** What the author said in `ask.note` since the last question. */
  notes?: string[] | undefined;
}

/** A question inside a form. */
export type Field = Pick<Question, 'kind' | 'prompt' | 'label' | 'help'>;

export function toPromptId(key: string, attempt: number): string {
  return `${key}~${attempt}`;
}
