// A form field on the terminal: how to ask for it, and how to parse what is typed.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export interface TerminalField {
  name: string;
  isRequired: boolean;
  /** The line to show, without the hint on what to type. */
  label: string;
  choices: { value: string; title: string }[];
  /** Undefined if there is no default. */
  fallback: unknown;
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  schema: JsonObject;
}

export type FieldInput = { value: unknown } | { problem: string };

export function toTerminalFields(schema: unknown): TerminalField[] {
  const { properties, required } = isObject(schema) ? schema : {};
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, value]) =>
    toField(name, isObject(value) ? value : {}, needed.includes(name)),
  );
}

function toField(name: string, schema: JsonObject, isRequired: boolean): TerminalField {
  const { title, description, default: fallback } = schema;
  const words = typeof description === 'string' ? ` (${description})` : '';
  const label = `${typeof title === 'string' ? title : name}${words}`;
  const choices = choicesOf(schema);
  return { name, isRequired, label, choices, fallback, kind: kindOf(schema, choices.length > 0), schema };
}

function kindOf({ type }: JsonObject, hasChoices: boolean): TerminalField['kind'] {
  if (type === 'array') return 'choices';
  if (hasChoices) return 'choice';
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text';
}

/** `enum` with `enumNames`, or a list of `{ const, title }`, also in the items of a list. */
function choicesOf(schema: JsonObject): TerminalField['choices'] {
  const of = schema.type === 'array' && isObject(schema.items) ? schema.items : schema;
  const titled = [of.oneOf, of.anyOf].find(Array.isArray)?.filter(isObject);
  if (titled) return titled.map((one) => ({ value: String(one.const), title: String(one.title ?? one.const) }));
  const names = Array.isArray(of.enumNames) ? (of.enumNames as unknown[]) : [];
  const values = Array.isArray(of.enum) ? (of.enum as unknown[]) : [];
  return values.map((value, index) => ({ value: String(value), title: String(names[index] ?? value) }));
}

/** Parses a typed line into a value of the field. */
export function readField(field: TerminalField, typed: string): FieldInput {
  const text = typed.trim();
  switch (field.kind) {
    case 'boolean':
      return readBoolean(text);
    case 'number':
    case 'integer':
      return readNumber(field, text);
    case 'choice':
      return readChoice(field, text);
    case 'choices':
      return readChoices(field, text);
    default:
      return readText(field, text);
  }
}

function readBoolean(text: string): FieldInput {
  if (/^(y|yes|true|1)$/i.test(text)) return { value: true };
  return /^(n|no|false|0)$/i.test(text) ? { value: false } : { problem: 'Type y or n.' };
}

function readNumber({ kind, schema }: TerminalField, text: string): FieldInput {
  const value = Number(text);
  if (text === '' || !Number.isFinite(value)) return { problem: 'Type a number.' };
  if (kind === 'integer' && !Number.isInteger(value)) return { problem: 'Type a whole number.' };
  const { minimum, maximum } = schema;
  if (typeof minimum === 'number' && value < minimum) return { problem: `At least ${minimum}.` };
  if (typeof maximum === 'number' && value > maximum) return { problem: `At most ${maximum}.` };
  return { value };
}

/** Finds a choice by its number, value or title. */
function readChoice({ choices }: TerminalField, text: string): FieldInput {
  const chosen =
    choices.find(({ value, title }) => value === text || title === text) ??
    (/^\d+$/.test(text) && choices[Number(text) - 1]);
  return chosen ? { value: chosen.value } : { problem: `Type a number from 1 to ${choices.length}.` };
}

function readChoices(field: TerminalField, text: string): FieldInput {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const values: unknown[] = [];
  for (const part of parts) {
    const read = field.choices.length > 0 ? readChoice(field, part.trim()) : { value: part.trim() };
    if ('problem' in read) return { problem: `${read.problem.replace(/\.$/, '')}, or several with commas between.` };
    values.push(read.value);
  }
  const { minItems, maxItems } = field.schema;
  if (typeof minItems === 'number' && values.length < minItems) return { problem: `Choose at least ${minItems}.` };
  if (typeof maxItems === 'number' && values.length > maxItems) return { problem: `Choose at most ${maxItems}.` };
  return { value: values };
}

const FORMATS: Record<string, { pattern: RegExp; problem: string }> = {
  email: { pattern: /^[^\s@]+@[^\s@]+$/, problem: 'Type an e-mail address.' },
  uri: { pattern: /^[a-z][\w+.-]*:\S+$/i, problem: 'Type a URI, such as https://example.com.' },
  date: { pattern: /^\d{4}-\d{2}-\d{2}$/, problem: 'Type a date, such as 1999-12-31.' },
  'date-time': { pattern: /^\d{4}-\d{2}-\d{2}T\S+$/, problem: 'Type a time, such as 1999-12-31T12:00:00Z.' },
};

function readText({ schema }: TerminalField, text: string): FieldInput {
  const { minLength, maxLength, format, pattern } = schema;
  if (typeof minLength === 'number' && text.length < minLength)
    return { problem: `At least ${characters(minLength)}.` };
  if (typeof maxLength === 'number' && text.length > maxLength) return { problem: `At most ${characters(maxLength)}.` };
  const known = typeof format === 'string' ? FORMATS[format] : undefined;
  if (known && !known.pattern.test(text)) return { problem: known.problem };
  if (typeof pattern === 'string' && !matches(pattern, text)) return { problem: `It has to match ${pattern}.` };
  return { value: text };
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}

/** An invalid pattern is the server's problem. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}
