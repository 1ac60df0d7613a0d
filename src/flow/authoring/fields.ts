// Builders for the fields of a form, such as `f.text()`. The kind of a field determines the type of its answer.
import type { ChoiceOption, CountRules, DateRules, FieldOptions, NumberRules, TextRules } from './options.ts';
import type { AnswerValue, Only, ValueOf } from './answer-value.ts';
import { checkFieldOptions } from './options.ts';
import type { Kind } from '../question/question.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';

declare const answer: unique symbol;

export interface FormField<T = unknown> {
  readonly kind: Kind;
  readonly options: object;
  readonly choices?: readonly ChoiceOption[] | undefined;
  /** Only for the compiler. */
  readonly [answer]?: T;
}

export type FormFields = Record<string, FormField>;
export type FieldsOf<F extends FormFields> = { readonly [K in keyof F]: F[K] extends FormField<infer T> ? T : never };

export interface FieldBuilders {
  text<S extends StandardSchemaV1, const O extends FieldOptions<never> & TextRules>(
    options: Only<O, FieldOptions<never> & TextRules & { schema: S }> & { schema: S },
  ): FormField<AnswerValue<O, StandardSchemaV1.InferOutput<S>>>;
  text<const O extends FieldOptions<string> & TextRules>(
    options?: Only<O, FieldOptions<string> & TextRules>,
  ): FormField<AnswerValue<O, string>>;
  number<const O extends FieldOptions<number> & NumberRules>(
    options?: Only<O, FieldOptions<number> & NumberRules>,
  ): FormField<AnswerValue<O, number>>;
  confirm<const O extends FieldOptions<boolean>>(
    options?: Only<O, FieldOptions<boolean>>,
  ): FormField<AnswerValue<O, boolean>>;
  date<const O extends FieldOptions<string> & DateRules>(
    options?: Only<O, FieldOptions<string> & DateRules>,
  ): FormField<AnswerValue<O, string>>;
  choice<const C extends readonly ChoiceOption[], const O extends FieldOptions<ValueOf<C[number]>>>(
    choices: C,
    options?: Only<O, FieldOptions<unknown>>,
  ): FormField<AnswerValue<O, ValueOf<C[number]>>>;
  choices<
    const C extends readonly ChoiceOption[],
    const O extends FieldOptions<readonly ValueOf<C[number]>[]> & CountRules,
  >(
    choices: C,
    options?: Only<O, FieldOptions<unknown> & CountRules>,
  ): FormField<AnswerValue<O, readonly ValueOf<C[number]>[]>>;
}

const plain =
  (kind: Kind) =>
  (options: object = {}) => {
    checkFieldOptions(kind, options);
    return { kind, options };
  };
const chosen =
  (kind: Kind) =>
  (choices: readonly ChoiceOption[], options: object = {}) => {
    checkFieldOptions(kind, options);
    return { kind, options, choices };
  };

/**
 * The fields of `ask.form`.
 *
 * @example
 * ```ts
 * import { f, flow } from 'mcp-parley/flow';
 *
 * export const guest = flow({ name: 'guest' }, async (ask) => {
 *   const { name, seats } = await ask.form('guest', { name: f.text(), seats: f.number({ min: 1, integer: true }) });
 *   return `${seats} for ${name}`;
 * });
 * ```
 */
export const f = {
  text: plain('text'),
  number: plain('number'),
  confirm: plain('confirm'),
  date: plain('date'),
  choice: chosen('choice'),
  choices: chosen('choices'),
} as FieldBuilders;
