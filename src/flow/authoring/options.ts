// Options of questions, named as in terminal prompts and forms, and the check of their names at run time.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Complaint, Kind, Words } from '../question/question.ts';
import type { Span } from './span.ts';
import type { StepOptions } from './step.ts';

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

export interface EventOptions {
  /** How long to wait. Then the body gets an error, which `ask.try` can catch. Default: as long as the session. */
  timeout?: Span;
}

export interface PersonOptions {
  /** How often to remind the person while the question waits. Default: never. */
  remind?: Span;
  /** The caller may answer, too. Default: only this person, and those to whom the question is handed over. */
  orCaller?: boolean;
  /** The principals to whom the person can hand the question over, in every channel. The caller only if named here. Default: nobody. */
  handOver?: readonly string[];
}

/**
 * The names of all options. With an ignored typo such as `secert: true`, a password would go through a form and a model. The compiler finds
 * typos only in object literals; the checks below find all. Has every member of T, so that the compiler finds a missing one.
 */
export type NamesOf<T> = Record<keyof T, true>;

const FIELD: NamesOf<FieldOptions<unknown>> = {
  message: true,
  label: true,
  help: true,
  placeholder: true,
  default: true,
  required: true,
  validate: true,
};
const ASK: NamesOf<AskOptions<unknown>> = {
  ...FIELD,
  by: true,
  alone: true,
  ahead: true,
  timeout: true,
  onTimeout: true,
  onCancel: true,
  deliver: true,
};
const STEP: NamesOf<StepOptions<unknown>> = {
  effect: true,
  check: true,
  undo: true,
  cleanup: true,
  timeout: true,
  retry: true,
  heartbeat: true,
  limit: true,
};
const EVENT: NamesOf<EventOptions> = { timeout: true };
export const PERSON_OPTIONS: NamesOf<PersonOptions> = { remind: true, orCaller: true, handOver: true };

const TEXT: NamesOf<TextRules> = { min: true, max: true, pattern: true, format: true };
const NUMBER: NamesOf<NumberRules> = { min: true, max: true, integer: true };
const DATE: NamesOf<DateRules> = { min: true, max: true };
const COUNT: NamesOf<CountRules> = { min: true, max: true };
const FILE: NamesOf<FileRules> = { maxBytes: true, accept: true };

const RULES: Record<Kind, object> = {
  text: { ...TEXT, schema: true },
  number: NUMBER,
  confirm: {},
  date: DATE,
  choice: {},
  choices: COUNT,
  file: FILE,
  custom: { schema: true },
  form: {},
};

function namesFor(common: object): Record<Kind, Set<string>> {
  const pairs = Object.entries(RULES).map(([kind, rules]) => [kind, new Set(Object.keys({ ...common, ...rules }))]);
  return Object.fromEntries(pairs) as Record<Kind, Set<string>>;
}

const ASKED = namesFor(ASK);
ASKED.text.add('secret');
const FIELDS = namesFor(FIELD);
const STEPS = new Set(Object.keys(STEP));
const EVENTS = new Set(Object.keys(EVENT));

export function checkAskOptions(kind: Kind, key: string, options: object): void {
  const names = ASKED[kind];
  for (const name in options) if (!names.has(name)) refuse(name, `ask.${kind}('${key}')`, names);
  if (!hasTexts(options)) throw notText(`ask.${kind}('${key}')`);
  checkRange(options, `ask.${kind}('${key}')`);
  for (const [name, words] of ASK_WORDS) checkWord(options, { name, words, of: `ask.${kind}('${key}')` });
}

/** Options that take one of a few words. With an ignored typo such as `by: 'humans'`, a model could give a person's consent. */
const ASK_WORDS: readonly (readonly [name: keyof AskOptions<unknown>, words: readonly string[]])[] = [
  ['by', ['human']],
  ['onTimeout', ['default', 'cancel', 'error']],
  ['onCancel', ['throw']],
  ['deliver', ['prompt', 'continue']],
];
const EFFECTS: readonly string[] = ['retry', 'once'];

function checkWord(options: object, { name, words, of }: { name: string; words: readonly string[]; of: string }): void {
  const value = (options as Record<string, unknown>)[name];
  if (value === undefined || (typeof value === 'string' && words.includes(value))) return;
  throw new GatewayError('FLOW_MISUSED', {
    reason: `${of} with ${name}: ${typeof value === 'string' ? `'${value}'` : `a ${typeof value}`}; it takes ${words.map((word) => `'${word}'`).join(' or ')}`,
  });
}

/** A text would be read as a list of its characters. */
export function checkNames(value: unknown, what: string): void {
  if (value === undefined || (Array.isArray(value) && value.every((name) => typeof name === 'string'))) return;
  throw new GatewayError('FLOW_MISUSED', { reason: `${what} that is not a list of names` });
}

/** A question without choices cannot be answered. */
export function checkHasChoices(choices: unknown, of: string): void {
  if (!Array.isArray(choices) || choices.length > 0) return;
  throw new GatewayError('FLOW_MISUSED', {
    reason: `${of} without choices; do not ask where there is nothing to choose`,
  });
}

/** Called for every question of every replay. */
function hasTexts({ message, label, help, placeholder }: Texts): boolean {
  const isMessage = typeof message === 'object' && message !== null ? hasId(message) : isTextOrAbsent(message);
  return isMessage && isTextOrAbsent(label) && isTextOrAbsent(help) && isTextOrAbsent(placeholder);
}

type Texts = { message?: unknown; label?: unknown; help?: unknown; placeholder?: unknown };

function hasId({ id, params }: { id?: unknown; params?: unknown }): boolean {
  return typeof id === 'string' && typeof params === 'object' && params !== null;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function notText(of: string): GatewayError {
  return new GatewayError('FLOW_MISUSED', {
    reason: `${of} with a message, label, help or placeholder that is not text`,
  });
}

/** No answer can lie in an empty range. */
function checkRange(options: { min?: unknown; max?: unknown }, of: string): void {
  const { min, max } = options;
  const isNumbers = typeof min === 'number' && typeof max === 'number';
  const isDays = typeof min === 'string' && typeof max === 'string';
  if (!(isNumbers || isDays) || min <= max) return;
  throw new GatewayError('FLOW_MISUSED', { reason: `${of} with min ${min}, which is more than max ${max}` });
}

export function checkStepOptions(key: string, options: object): void {
  for (const name in options) if (!STEPS.has(name)) refuse(name, `ask.step('${key}')`, STEPS);
  checkWord(options, { name: 'effect', words: EFFECTS, of: `ask.step('${key}')` });
  const { effect, check, undo, retry } = options as StepOptions<unknown>;
  if (!effect && (undo || check)) {
    throw new GatewayError('FLOW_MISUSED', {
      reason: `${undo ? 'undo' : 'check'} for ask.step('${key}') without an effect; add effect: 'retry' (after a crash it runs again with the same idempotency key) or effect: 'once'`,
    });
  }
  if (retry && effect === 'once' && !check) {
    throw new GatewayError('FLOW_MISUSED', {
      reason: `retry for ask.step('${key}'), which is to happen once; give it a check`,
    });
  }
}

export function checkEventOptions(key: string, options: object): void {
  for (const name in options) if (!EVENTS.has(name)) refuse(name, `ask.event('${key}')`, EVENTS);
}

export function checkFieldOptions(kind: Kind, options: object): void {
  const names = FIELDS[kind];
  for (const name in options) if (!names.has(name)) refuse(name, `f.${kind}()`, names);
  if (!hasTexts(options)) throw notText(`f.${kind}()`);
  checkRange(options, `f.${kind}()`);
}

/** For options that are not tied to a question. */
export function checkOptionNames(options: object, names: Readonly<Record<string, true>>, of: string): void {
  for (const name in options) if (!Object.hasOwn(names, name)) refuse(name, of, new Set(Object.keys(names)), of);
}

/** `where`: what is at fault, if that cannot be told later. */
function refuse(name: string, of: string, names: ReadonlySet<string>, where?: string): never {
  throw new GatewayError('FLOW_MISUSED', {
    ...(where !== undefined && { flow: where }),
    reason: `${name} as an option of ${of}, which takes ${[...names].join(', ')}`,
  });
}
