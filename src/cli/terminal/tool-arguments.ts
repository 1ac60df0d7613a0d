// Converts typed arguments (`--arg count=3`) to the types in the schema of the tool.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export function toArguments(typed: [name: string, text: string][], body: JsonObject, schema: unknown): JsonObject {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const pairs = typed.map(([name, text]) => [name, toValue(text, properties[name])]);
  return { ...body, ...Object.fromEntries(pairs) };
}

/** Without a type in the schema, valid JSON becomes JSON and everything else text. */
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
