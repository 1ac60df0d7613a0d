// Reads what people and models write, where it is unambiguous: "3" as 3, "yes" as true, a title as its option. Anything else
// stays as it is, and the check refuses it. Nothing is guessed or filled in.
import { findOption } from './field-options.ts';
import type { SchemaField } from './schema-field.ts';

const WORDS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
]);

export function readWritten(field: SchemaField, given: unknown): unknown {
  if (given === undefined || given === null || given === '') return given;
  switch (field.kind) {
    case 'text':
    case 'secret':
      return typeof given === 'number' || typeof given === 'boolean' ? String(given) : given;
    case 'number':
      return typeof given === 'string' ? (readNumber(given, field.integer) ?? given) : given;
    case 'boolean':
      return typeof given === 'string' ? (WORDS.get(given.trim().toLowerCase()) ?? given) : given;
    case 'choice':
      return findOption(field.options, given)?.value ?? given;
    case 'choices': {
      const list = (Array.isArray(given) ? given : [given]) as unknown[];
      return [...new Set(list.map((one) => findOption(field.options, one)?.value ?? one))];
    }
    default:
      return given;
  }
}

/** Many people write a decimal comma. Before three digits it may separate thousands, so it is refused there. */
export function readNumber(text: string, integer = false): number | undefined {
  const trimmed = text.trim().replace(/^\u2212/, '-');
  const plain = integer ? trimmed : trimmed.replace(/^([+-]?\d+),(\d{1,2}|\d{4,})$/, '$1.$2');
  const form = integer ? /^[+-]?\d+$/ : /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
  return form.test(plain) ? Number(plain) : undefined;
}
