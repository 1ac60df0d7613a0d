// Checks the schema of a form: flat, with primitives, single choices and multiple choices, as the protocol allows. Refuses fields that
// clients cannot show, so that the author sees the error.
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';

/** Takes the properties, or a whole object schema. */
export function toFormSchema(schema: JsonObject): JsonObject {
  const isWhole = schema['type'] === 'object' && isObject(schema['properties']);
  const form: JsonObject = isWhole ? schema : { type: 'object', properties: schema };
  for (const [name, field] of Object.entries(form['properties'] as JsonObject)) {
    const reason = toProblem(field);
    if (reason !== undefined) throw new GatewayError('BAD_OPTION', { option: `form field ${name}`, reason });
  }
  return form;
}

function toProblem(field: unknown): string | undefined {
  if (!isObject(field)) return 'must be a schema';
  switch (field['type']) {
    case 'string':
      return isChoice(field['enum'], field['oneOf']) ? undefined : 'a choice needs strings, or { const, title }';
    case 'number':
    case 'integer':
    case 'boolean':
      return undefined;
    case 'array':
      return isMultipleChoice(field['items']) ? undefined : 'an array must be a choice among strings';
    default:
      return 'must be a string, number, integer, boolean or a choice: forms are flat';
  }
}

function isMultipleChoice(items: unknown): boolean {
  if (!isObject(items)) return false;
  const { enum: words, anyOf: titled } = items as { enum?: unknown; anyOf?: unknown };
  return (words !== undefined || titled !== undefined) && isChoice(words, titled);
}

function isChoice(words: unknown, titled: unknown): boolean {
  return (words === undefined || isListOf(words, isWord)) && (titled === undefined || isListOf(titled, isTitled));
}

function isListOf(list: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isOne);
}

function isWord(word: unknown): boolean {
  return typeof word === 'string';
}

function isTitled(option: unknown): boolean {
  return isObject(option) && typeof option['const'] === 'string';
}
