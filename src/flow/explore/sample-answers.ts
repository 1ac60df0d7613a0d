// Made-up answers, two of each kind: what is equal for both does not depend on the answer. Consent is never made up.
import type { QuestionSpec } from '../engine/question-spec.ts';
import type { FormFields } from '../authoring/fields.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';

export type Variant = 'a' | 'b';

const PLAIN: Record<string, [unknown, unknown]> = {
  text: ['alpha', 'omega two'],
  number: [1, 42],
  date: [day(0), day(700)],
  file: [file('a.txt'), file('b.txt')],
  custom: ['alpha', 'omega two'],
};

/** Further rounds of a loop lead to nothing new. */
const MAX_TURNS = 3;

/** Answers that the body may branch on; each is a path of its own. */
export function branchAnswers({ key, kind, choices = [] }: QuestionSpec): unknown[] | undefined {
  if (Number(/#(\d+)$/.exec(key)?.[1] ?? 1) > MAX_TURNS) return undefined;
  return kind === 'choice' ? choices.map(valueOf) : undefined;
}

export function sampleAnswer(
  spec: Pick<QuestionSpec, 'kind' | 'choices' | 'fields' | 'options'>,
  variant: Variant,
): unknown {
  const at = variant === 'a' ? 0 : 1;
  const { kind, choices = [], fields, options } = spec;
  if (options.secret) return { $secret: 'probe' };
  if (fields) return sampleForm(fields, variant);
  if (kind === 'choice') return valueOf(choices[Math.min(at, choices.length - 1)]);
  if (kind === 'choices') return choices.slice(0, at).map(valueOf);
  if (kind === 'number') return sampleNumber(options, at);
  return PLAIN[kind]?.[at];
}

/** An input with only its required fields. */
export function sampleInput(schema: JsonObject | undefined): JsonObject {
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema?.['required']) ? (schema['required'] as string[]) : [];
  return Object.fromEntries(required.map((name) => [name, sampleFromSchema(properties[name])]));
}

function sampleFromSchema(schema: unknown): unknown {
  if (!isObject(schema)) return 'alpha';
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[])[0];
  if ('const' in schema) return schema['const'];
  const samples: Record<string, unknown> = { number: 1, integer: 1, boolean: true, array: [], null: null };
  if (schema['type'] === 'object') return sampleInput(schema);
  return samples[String(schema['type'])] ?? 'alpha';
}

function sampleForm(fields: FormFields, variant: Variant): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { kind, options, choices }]) => [
      name,
      sampleAnswer({ kind, options, choices }, variant),
    ]),
  );
}

function sampleNumber({ min, max }: { min?: number | string; max?: number | string }, at: number): unknown {
  const [low, high] = [typeof min === 'number' ? min : undefined, typeof max === 'number' ? max : undefined];
  if (at === 0) return low ?? (high === undefined ? 1 : Math.min(1, high));
  return high ?? (low === undefined ? 42 : low + 41);
}

function valueOf(option: unknown): unknown {
  return isObject(option) ? option['value'] : option;
}

/** A date in the future. */
function day(later: number): string {
  return new Date(Date.UTC(2030, 0, 2 + later)).toISOString().slice(0, 10);
}

function file(name: string) {
  return { name, mimeType: 'text/plain', size: 1, sha256: name };
}
