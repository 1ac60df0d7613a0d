// The one argument that makes a tool interactive. Types only: what stands behind it is engine/.
// The first argument of every question and step is its key: a literal, the same in every run, because answers are found by it.
// In a loop the engine adds `#2`, `#3`, … by itself; `scope` gives names instead.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { FileRef } from '../question/check-file.ts';
import type { AskFailure } from './ask-failure.ts';
import type { FieldsOf, FormFields } from './fields.ts';
import type { AwaitedEvent, EventOptions, PersonOptions } from './waiting-options.ts';
import type { KeptAsJson } from './not-json.ts';
import type {
  AnySchema,
  AskOptions,
  ChoiceOption,
  CountRules,
  DateRules,
  FileRules,
  NumberRules,
  TextRules,
} from './options.ts';
import type { Span } from './span.ts';
import type { StepContext, StepOptions, Secret } from './step.ts';

/** What may be left out, or is given up after a time without a default, adds undefined; a default takes it away again. */
export type AnswerValue<O, T> = O extends { default: unknown }
  ? T
  : O extends { onTimeout: 'default' }
    ? T | undefined
    : O extends { required: infer R }
      ? T | (false extends R ? undefined : never)
      : T;

/** Options without members that nobody knows: a misspelled one does not compile. */
export type Only<O, Known> = O & { [Name in Exclude<keyof O, keyof Known>]: never };

/** A computed key would be another one in the next run. */
export type Key<K extends string> = string extends K ? never : K;

export type ValueOf<C> = C extends { value: infer V } ? V : C;

/** What a schema lets through. */
export type SchemaOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown;

type TextOptions<T = string> = AskOptions<T> & TextRules;

/** Its fields have defaults, it has none. */
type FormOptions<F extends FormFields> = Omit<AskOptions<FieldsOf<F>>, 'default'> & { default?: never };

export interface Ask {
  // The overload with a schema comes first: the other one would match it too, and say `string`.
  text<K extends string, S extends StandardSchemaV1, const O extends TextOptions<never>>(
    key: Key<K>,
    options: Only<O, TextOptions & { schema: S }> & { schema: S },
  ): Promise<AnswerValue<O, StandardSchemaV1.InferOutput<S>>>;
  text<K extends string, const O extends TextOptions<never> & { secret: true }>(
    key: Key<K>,
    options: Only<O, TextOptions & { secret: true }>,
  ): Promise<AnswerValue<O, Secret>>;
  text<K extends string, const O extends TextOptions>(
    key: Key<K>,
    options?: Only<O, TextOptions>,
  ): Promise<AnswerValue<O, string>>;

  number<K extends string, const O extends AskOptions<number> & NumberRules>(
    key: Key<K>,
    options?: Only<O, AskOptions<number> & NumberRules>,
  ): Promise<AnswerValue<O, number>>;

  /** Declined is no. */
  confirm<K extends string>(key: Key<K>, options?: AskOptions<boolean>): Promise<boolean>;

  /** A day, `YYYY-MM-DD`. */
  date<K extends string, const O extends AskOptions<string> & DateRules>(
    key: Key<K>,
    options?: Only<O, AskOptions<string> & DateRules>,
  ): Promise<AnswerValue<O, string>>;

  choice<K extends string, const C extends readonly ChoiceOption[], const O extends AskOptions<ValueOf<C[number]>>>(
    key: Key<K>,
    choices: C,
    options?: Only<O, AskOptions<unknown>>,
  ): Promise<AnswerValue<O, ValueOf<C[number]>>>;

  choices<
    K extends string,
    const C extends readonly ChoiceOption[],
    const O extends AskOptions<readonly ValueOf<C[number]>[]> & CountRules,
  >(
    key: Key<K>,
    choices: C,
    options?: Only<O, AskOptions<unknown> & CountRules>,
  ): Promise<AnswerValue<O, readonly ValueOf<C[number]>[]>>;

  /** The bytes are read in a step: `ask.step('parse', (s) => parse(await s.bytes(file)))`. */
  file<K extends string, const O extends AskOptions<never> & FileRules>(
    key: Key<K>,
    options?: Only<O, AskOptions<never> & FileRules>,
  ): Promise<AnswerValue<O, FileRef>>;

  /** Any JSON, checked by the schema if there is one. */
  custom<K extends string, S extends AnySchema, const O extends AskOptions<never>>(
    key: Key<K>,
    options: Only<O, AskOptions<never> & { schema: S }> & { schema: S },
  ): Promise<AnswerValue<O, SchemaOutput<S>>>;
  custom<K extends string>(key: Key<K>, options?: AskOptions<unknown>): Promise<unknown>;

  /** Several fields in one round. `validate` is given all of them, once each is right. */
  form<K extends string, const F extends FormFields, const O extends FormOptions<F>>(
    key: Key<K>,
    fields: F,
    options?: Only<O, FormOptions<F>>,
  ): Promise<AnswerValue<O, FieldsOf<F>>>;

  /** Whatever reaches out of the body. Its result is written down, and is never asked for again. */
  step<K extends string, T>(
    key: Key<K>,
    work: ((step: StepContext) => T | Promise<T>) & KeptAsJson<T>,
    options?: StepOptions<T>,
  ): Promise<T>;
  sleep<K extends string>(key: Key<K>, span: Span): Promise<void>;

  /**
   * Waits for something that happens outside: it is delivered by `sessions.deliver`, or by a POST to `step.url(event)`. It is waited for
   * from here on, awaited or not.
   */
  event<K extends string, S extends AnySchema>(
    key: Key<K>,
    schema: S,
    options?: EventOptions,
  ): AwaitedEvent<SchemaOutput<S>>;
  event<K extends string>(key: Key<K>): AwaitedEvent<unknown>;

  /**
   * Asks somebody else, who is known by the principal that `identify` gives: `ask.person('ops-lead').confirm('ok')`. Nobody else can
   * answer, and the caller is told whom the flow waits for.
   */
  person(principal: string, options?: PersonOptions): PersonAsk;

  /**
   * The same `ask` with `id.` before every key, for what is asked about one of many: `ask.scope(item.id).number('count')`. In a loop
   * without it keys are counted, and an answer whose place in the loop has changed is asked for again. The id is that of the thing, and
   * not its place in the list.
   */
  scope(id: string): Ask;

  /** Where the user stands; goes out with the next question. */
  progress(current: number, total?: number, message?: string): void;
  /** Something to say before the next question. */
  note(text: string): void;

  /** The time of the last thing that happened; the same in every run. */
  now(): number;
  /** That day, `YYYY-MM-DD`, in UTC. */
  today(): string;
  random(): number;
  uuid(): string;

  /** What became of a question, without try and catch. */
  try<T>(question: Promise<T>): Promise<{ ok: true; value: T } | { ok: false; reason: AskFailure }>;
  /** True in sessions that come by here first with this mark in place; false in those that passed before it was written. */
  version(id: string): boolean;

  /** Aborted when the session ends before its time; whatever the body waits for then rejects with a `SessionEndedError`. */
  readonly signal: AbortSignal;
  /** The language of the session (BCP 47), as its client said when it started; undefined where nobody has. */
  readonly locale: string | undefined;
  readonly session: { readonly id: string; readonly startedAt: number; readonly context: unknown };
  readonly client: { readonly name?: string | undefined; readonly version?: string | undefined };
}

/** Questions to somebody else. */
export type PersonAsk = Pick<
  Ask,
  'text' | 'number' | 'confirm' | 'date' | 'choice' | 'choices' | 'file' | 'custom' | 'form'
>;
