// A question as plain JSON, the same for every channel. It is in the header of its session while it waits, so that it can be shown and
// answered without running the body. Also its words, and the fingerprints of what was shown, to which consents and reused answers are bound.
import { hash } from 'node:crypto';
import type { Prompt, PromptType, PromptStep } from '../../kernel/form/prompt.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';

/** Kinds of questions. On the wire `choices` and `form` are `custom`. */
export type Kind = PromptType | 'choices' | 'form';

/** Why an answer was refused. */
export interface Complaint {
  error: string;
  suggestion?: string | undefined;
}

/** Links contain the person and must fit into a URL. */
export const MAX_PERSON_CHARS = 500;

export interface Addressee {
  principal: string;
  /** The caller may answer, too. */
  orCaller?: true | undefined;
  /** To whom the question can be handed over on the page. */
  handOver?: readonly string[] | undefined;
  remindMs?: number | undefined;
  /** When to notify the person next; absent if no more notices follow. */
  tellAt?: number | undefined;
  /** How often the person was notified, and how many failures there were in a row. */
  told?: number | undefined;
  failed?: number | undefined;
  /** Number of notices to anybody, as each has its own link. */
  notices?: number | undefined;
}

export interface Question {
  /** `<key>~<attempt>`: new for every attempt, never used twice in a session. */
  promptId: string;
  key: string;
  attempt: number;
  kind: Kind;
  prompt: Prompt;
  /** A short name for forms and pages. Default: the key as words. */
  label?: string | undefined;
  help?: string | undefined;
  /** Fields of a form, by name. */
  fields?: Record<string, Field> | undefined;
  progress?: PromptStep | undefined;
  /** Only a person may answer. */
  by?: 'human' | undefined;
  /** Must not go through a model, a client's form, or a log. */
  secret?: true | undefined;
  /** Never asked together with another question. */
  alone?: true | undefined;
  /** What a cancel by the user or a timeout does. Default: the session ends; the body gets an error. */
  onCancel?: 'throw' | undefined;
  onTimeout?: 'default' | 'cancel' | 'error' | undefined;
  /** How MCP Flow delivers the question, if the author chose. */
  deliver?: 'prompt' | 'continue' | undefined;
  /** Fingerprint of the text, if the answer is a consent to it. */
  consent?: string | undefined;
  /** Fingerprint of everything shown; absent in sessions of older versions. */
  pin?: string | undefined;
  /** What was wrong with the last answer. */
  complaint?: Complaint | undefined;
  /** When the question expires, if that is before its session. */
  until?: number | undefined;
  /** The person who is asked, if not the caller. */
  person?: Addressee | undefined;
  /** Texts from `ask.note` since the last question. */
  notes?: string[] | undefined;
}

/** A field of a form. */
export type Field = Pick<Question, 'kind' | 'prompt' | 'label' | 'help'>;

export function toPromptId(key: string, attempt: number): string {
  return `${key}~${attempt}`;
}

const PIN_LENGTH = 8;
const MAX_PINS = 1000;
/** Most questions are asked of many users in the same words. */
const pins = new BoundedMap<string, string>(MAX_PINS);
const MAX_KNOWN_LENGTH = 500;

/**
 * The pin of a question: a fingerprint of its kind, text, choices and position in loops. After an earlier answer changes, a later answer is
 * reused only under the same pin. Rules and defaults are not part of it, as answers are checked against them again.
 */
export function toQuestionPin(field: Field & Pick<Question, 'fields'>, loops: string | undefined): string {
  const { fields } = field;
  const inside = fields && Object.entries(fields).map(([name, one]) => [name, ...wordsOf(one)]);
  return pinOf(JSON.stringify([[...wordsOf(field), inside], loops]));
}

function pinOf(shown: string): string {
  const toPin = () => hash('sha256', shown, 'base64url').slice(0, PIN_LENGTH);
  return shown.length > MAX_KNOWN_LENGTH ? toPin() : pins.getOrCreate(shown, toPin);
}

function wordsOf({ kind, prompt: { message, choices }, label, help }: Field): unknown[] {
  return [kind, message, choices, label, help];
}

/** The text of a question: as it is, or a message id with parameters, for flows in several languages. */
export type Words = string | LocalizedMessage;

interface LocalizedMessage {
  readonly id: string;
  readonly params: Readonly<Record<string, string | number>>;
}

/** Texts by locale and id, with `{name}` for parameters. */
export type Catalogue = Record<string, Record<string, string>>;

/**
 * A message whose text is in the `messages` of the flow, in the language of the session.
 *
 * @example
 * ```ts
 * import { flow, msg } from 'mcp-parley/flow';
 *
 * const messages = { en: { pay: 'Pay {sum} euros?' }, de: { pay: '{sum} Euro zahlen?' } };
 * export const fee = flow({ name: 'fee', messages }, (ask) => ask.confirm('ok', { message: msg('pay', { sum: 30 }) }));
 * ```
 */
export function msg(id: string, params: Record<string, string | number> = {}): LocalizedMessage {
  return { id, params };
}

export function toMessageText(words: Words, catalogue: Catalogue | undefined, locale: string | undefined): string {
  if (typeof words === 'string') return words;
  const template = find(words.id, catalogue, locale) ?? words.id;
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(words.params[name] ?? whole));
}

/** What a consent is bound to: another translation keeps it, another text or price does not. */
export function fingerprint(words: Words): string {
  const said = typeof words === 'string' ? words : JSON.stringify([words.id, sorted(words.params)]);
  return hash('sha256', said, 'base64url').slice(0, 11);
}

function sorted(params: LocalizedMessage['params']): [string, string | number][] {
  return Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Looks up `de-AT`, then `de`, then the first locale. */
function find(id: string, catalogue: Catalogue | undefined, locale: string | undefined): string | undefined {
  if (catalogue === undefined) return undefined;
  const language = locale?.split('-')[0];
  const tables = [locale, language, Object.keys(catalogue)[0]].flatMap((name) =>
    name !== undefined && Object.hasOwn(catalogue, name) ? [catalogue[name]] : [],
  );
  return tables.find((table) => table && Object.hasOwn(table, id))?.[id];
}
