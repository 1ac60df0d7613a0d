// The `ask` argument of a flow body: types only, engine/ implements them.
// The first argument of every question and step is its key. It must be the same literal in every run, as recorded answers are found by it.
// In a loop the engine adds `#2`, `#3`, …; `scope` gives keys a name instead.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { FileRef } from '../question/check-answer.ts';
import type { AskFailure } from './ask-failure.ts';
import type { FieldsOf, FormFields } from './fields.ts';
import type {
  EventOptions,
  PersonOptions,
  AnySchema,
  AskOptions,
  ChoiceOption,
  CountRules,
  DateRules,
  FileRules,
  NumberRules,
  TextRules,
} from './options.ts';
import type { AwaitedEvent } from './awaited-event.ts';
import type { KeptAsJson, StepContext, StepOptions, Secret } from './step.ts';
import type { Span } from './span.ts';
import type { AnswerValue, Only, ValueOf } from './answer-value.ts';

/** Refuses a computed key, which could differ in the next run. */
type Key<K extends string> = string extends K ? never : K;

/** The type that a schema validates to. */
type SchemaOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown;

type TextOptions<T = string> = AskOptions<T> & TextRules;

/** A form has no default; its fields have. */
type FormOptions<F extends FormFields> = Omit<AskOptions<FieldsOf<F>>, 'default'> & { default?: never };

export interface Ask {
  // The overload with a schema must come first: the other one would match, too, with `string`.
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

  /**
   * False if the user declines.
   *
   * @example
   * ```ts
   * import { flow } from 'mcp-parley/flow';
   *
   * export const pay = flow({ name: 'pay' }, async (ask) =>
   *   (await ask.confirm('ok', { message: 'Pay 30 euros?', by: 'human' })) ? 'Paid' : 'Not paid',
   * );
   * ```
   */
  confirm<K extends string>(key: Key<K>, options?: AskOptions<boolean>): Promise<boolean>;

  /** A day, `YYYY-MM-DD`. */
  date<K extends string, const O extends AskOptions<string> & DateRules>(
    key: Key<K>,
    options?: Only<O, AskOptions<string> & DateRules>,
  ): Promise<AnswerValue<O, string>>;

  /**
   * One of several; its value is the answer.
   *
   * @example
   * ```ts
   * import { flow } from 'mcp-parley/flow';
   *
   * export const seat = flow({ name: 'seat' }, (ask) => ask.choice('where', ['aisle', 'window'], { default: 'aisle' }));
   * ```
   */
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

  /** A step reads the bytes: `ask.step('parse', (s) => parse(await s.bytes(file)))`. */
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

  /**
   * Several fields in one round. `validate` gets all of them, once each is valid.
   *
   * @example
   * ```ts
   * import { f, flow } from 'mcp-parley/flow';
   *
   * export const guest = flow({ name: 'guest' }, (ask) => ask.form('guest', { name: f.text(), age: f.number({ required: false }) }));
   * ```
   */
  form<K extends string, const F extends FormFields, const O extends FormOptions<F>>(
    key: Key<K>,
    fields: F,
    options?: Only<O, FormOptions<F>>,
  ): Promise<AnswerValue<O, FieldsOf<F>>>;

  /**
   * Runs anything that has side effects or reads the outside world. Its result is recorded, so replays do not run it
   * again.
   *
   * @example
   * ```ts
   * import { flow } from 'mcp-parley/flow';
   *
   * export const send = flow({ name: 'send' }, (ask) =>
   *   ask.step('send', async (step) => `sent once with ${step.idempotencyKey}`, { effect: 'retry', undo: () => {} }),
   * );
   * ```
   */
  step<K extends string, T>(
    key: Key<K>,
    work: ((step: StepContext) => T | Promise<T>) & KeptAsJson<T>,
    options?: StepOptions<T>,
  ): Promise<T>;
  sleep<K extends string>(key: Key<K>, span: Span): Promise<void>;

  /**
   * Waits for an external event, delivered by `sessions.deliver` or by a POST to `step.url(event)`. The session
   * waits from here on, even before the promise is awaited.
   *
   * @example
   * ```ts
   * import { flow } from 'mcp-parley/flow';
   *
   * export const deploy = flow({ name: 'deploy' }, async (ask) => {
   *   const deployed = ask.event('deployed', { type: 'object' });
   *   await ask.step('start', async (step) => console.log('POST to', await step.url(deployed)), { effect: 'retry' });
   *   return { deployed: await deployed };
   * });
   * ```
   */
  event<K extends string, S extends AnySchema>(
    key: Key<K>,
    schema: S,
    options?: EventOptions,
  ): AwaitedEvent<SchemaOutput<S>>;
  event<K extends string>(key: Key<K>): AwaitedEvent<unknown>;

  /**
   * Asks somebody else, named by the principal that `identify` returns. Only that person can answer, and the caller
   * sees whom the flow waits for.
   *
   * @example
   * ```ts
   * import { flow } from 'mcp-parley/flow';
   *
   * export const release = flow({ name: 'release', limits: { duration: '3d' } }, (ask) =>
   *   ask.person('ops-lead', { remind: '4h' }).confirm('approve', { message: 'Release it?' }),
   * );
   * ```
   */
  person(principal: string, options?: PersonOptions): PersonAsk;

  /**
   * The same `ask` with `id.` before every key, for questions about one of many items: `ask.scope(item.id).number('count')`. Without it,
   * keys in a loop are numbered, and an answer is asked for again if its number changes. Use the id of the item, not its index.
   */
  scope(id: string): Ask;

  /** The user's progress, sent with the next question. */
  progress(current: number, total?: number, message?: string): void;
  /** Text to show before the next question. */
  note(text: string): void;

  /** The time of the last recorded event, the same in every run. */
  now(): number;
  /** The same as a date, `YYYY-MM-DD`, in UTC. */
  today(): string;
  random(): number;
  uuid(): string;

  /** The outcome of a question, without try and catch. */
  try<T>(question: Promise<T>): Promise<{ ok: true; value: T } | { ok: false; reason: AskFailure }>;
  /** True in sessions that reach this point with this version of the code, false in those that passed it before. */
  version(id: string): boolean;

  /** Aborted when the session ends early; everything that the body awaits then rejects with a `SessionEndedError`. */
  readonly signal: AbortSignal;
  /** The language of the session (BCP 47), as its client gave it at the start; undefined if it gave none. */
  readonly locale: string | undefined;
  readonly session: { readonly id: string; readonly startedAt: number; readonly context: unknown };
  readonly client: { readonly name?: string | undefined; readonly version?: string | undefined };
}

/** Questions to another person. */
export type PersonAsk = Pick<
  Ask,
  'text' | 'number' | 'confirm' | 'date' | 'choice' | 'choices' | 'file' | 'custom' | 'form'
>;
