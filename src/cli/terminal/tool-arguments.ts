// Arguments as they were typed, `--arg count=3`, as the values that the tool wants: its schema decides whether 3 is a number.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export function toArguments(typed: [name: string, text: string][], body: JsonObject, schema: unknown): JsonObject {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const pairs = typed.map(([name, text]) => [name, toValue(text, properties[name])]);
  return { ...body, ...Object.fromEntries(pairs) };
}

/** Where the schema does not say, what looks like JSON is JSON; everything else is text. */
function toValue(text: string, schema: unknown): unknown {
  const { type } = isObject(schema) ? schema : {};
  const types = [type].flat();
  if (types.includes('string') && (types.length === 1 || !isJson(text))) return text;
  return isJson(text) ? (JSON.parse(text) as unknown) : text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
