// What the audit log shows of the arguments of a call.
import { isObject } from '../../../kernel/message.ts';

/** The names of further arguments are not shown. */
export const MAX_SHAPED = 20;
const PARAMETER = /^[A-Za-z_][\w.-]{0,39}$/;
const UNNAMED = '*';

/**
 * The shape of arguments: their names, types and sizes, and no values, as in `{ path: 'string(12)', deep: 'object(3)' }`. A name that does not look
 * like that of a parameter may be a value itself, as in a dictionary of addresses, and is not shown either.
 */
export function toShape(given: unknown): unknown {
  if (!isObject(given)) return toType(given);
  const shape: Record<string, string> = {};
  let shown = 0;
  for (const name in given) {
    if (!Object.hasOwn(given, name)) continue;
    if (++shown > MAX_SHAPED) break;
    shape[isParameter(name) ? name : UNNAMED] = toType(given[name]);
  }
  const left = shown > MAX_SHAPED ? Object.keys(given).length - MAX_SHAPED : 0;
  if (left > 0) shape['…'] = `${left} more`;
  return shape;
}

export function isParameter(name: string): boolean {
  return name !== '__proto__' && PARAMETER.test(name);
}

/** What is a number, an object … without its value; needs no escapes. */
export function toType(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string(${value.length})`;
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? `array(${value.length})` : `object(${Object.keys(value).length})`;
    default:
      return typeof value;
  }
}
