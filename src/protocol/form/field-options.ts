// Reads the options of a choice: enum with or without names, oneOf or anyOf with titles.
import { isObject } from '../message.ts';
import type { JsonObject } from '../message.ts';

export interface FieldOption {
  readonly value: string | number | boolean;
  readonly title: string;
}

/** Undefined if the schema is not a choice. */
export function toOptions(schema: JsonObject): FieldOption[] | undefined {
  if (Array.isArray(schema['enum'])) return fromEnum(schema['enum'], schema['enumNames']);
  const titled = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(titled) || titled.length === 0) return undefined;
  const options = titled.flatMap((one) => {
    if (!isObject(one) || !isValue(one['const'])) return [];
    return [{ value: one['const'], title: toTitle(one['title'], one['const']) }];
  });
  return options.length === titled.length ? options : undefined;
}

/** Finds an option by its value, or by its title as a person or a model writes it. */
export function findOption(options: readonly FieldOption[], said: unknown): FieldOption | undefined {
  const same = options.find(({ value }) => value === said);
  if (same || (typeof said !== 'string' && typeof said !== 'number' && typeof said !== 'boolean')) return same;
  const text = String(said).trim();
  const written = options.find(({ value }) => String(value) === text) ?? options.find(({ title }) => title === text);
  if (written) return written;
  const alike = options.filter(({ value, title }) => [String(value), title].some((one) => isAlike(one, text)));
  return alike.length === 1 ? alike[0] : undefined; // two that differ only in case are ambiguous
}

function fromEnum(values: readonly unknown[], names: unknown): FieldOption[] {
  const titles: readonly unknown[] = Array.isArray(names) ? names : [];
  return values.flatMap((value, index) => (isValue(value) ? [{ value, title: toTitle(titles[index], value) }] : []));
}

function toTitle(title: unknown, value: FieldOption['value']): string {
  return typeof title === 'string' && title !== '' ? title : String(value);
}

function isValue(value: unknown): value is FieldOption['value'] {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isAlike(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
