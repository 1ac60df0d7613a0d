// A question as it is put: plain JSON, the same for every channel. It lies in the header of its session while it waits, so that
// it can be shown again, and an answer checked, without running the body.
import type { Prompt, PromptType, PromptStep } from '../../protocol/prompt.ts';

/** What an author can ask for. On the wire `choices` and `form` are `custom`. */
export type Kind = PromptType | 'choices' | 'form';

/** Why an answer was refused. */
export interface Complaint {
  error: string;
  suggestion?: string | undefined;
}

/** A person is named in links, which have to fit into a URL. */
export const MAX_PERSON_CHARS = 500;

export interface Addressee {
  principal: string;
  /** The caller may answer too. */
  orCaller?: true | undefined;
  remindMs?: number | undefined;
  /** When the person is told of it next; absent where that is over. */
  tellAt?: number | undefined;
  /** How often the person was told, and how often in a row that has failed. */
  told?: number | undefined;
  failed?: number | undefined;
  /** Notices of this question to anybody: each has a link of its own. */
  notices?: number | undefined;
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
  progress?: PromptStep | undefined;
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
  /** Fingerprint of all that is shown; absent in sessions of older versions. */
  pin?: string | undefined;
  /** What was wrong with the last answer. */
  complaint?: Complaint | undefined;
  /** When it stops waiting, where that is sooner than its session. */
  until?: number | undefined;
  /** Who is asked, where that is not the caller. */
  person?: Addressee | undefined;
  /** What the author said in `ask.note` since the last question. */
  notes?: string[] | undefined;
}

/** A question inside a form. */
export type Field = Pick<Question, 'kind' | 'prompt' | 'label' | 'help'>;

export function toPromptId(key: string, attempt: number): string {
  return `${key}~${attempt}`;
}
