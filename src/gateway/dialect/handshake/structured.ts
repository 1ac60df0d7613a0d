// Converts structured output for the handshake era: 2024-11-05 and 2025-03-26 lack it, later revisions require an
// object. Any other value or schema is wrapped as `result`, as the official SDK does.
import { copyNumbers } from '../../../protocol/raw/exact-numbers.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { Features } from '../revisions.ts';
import { dictionary } from '../../../shared/containers/dictionary.ts';

/** For a result that has structured content. */
export function wrapStructured(result: JsonObject, features: Features): JsonObject {
  if (features.structured && isObject(result.structuredContent)) return result;
  const { structuredContent: dropped, ...rest } = result;
  const content = withText(Array.isArray(rest.content) ? (rest.content as JsonObject[]) : [], dropped);
  return features.structured ? { ...rest, content, structuredContent: { result: dropped } } : { ...rest, content };
}

/**
 * Undefined if the value may or may not be an object: no single schema describes both the wrapped and the plain form.
 */
export function wrapOutputSchema(schema: unknown): unknown {
  if (!isObject(schema) || schema.type === 'object') return schema;
  if (mayBeObject(schema.type)) return undefined;
  const { $schema, ...inner } = schema;
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { result: reroot(inner) },
    required: ['result'],
  };
}

/** For clients without structured content, adds it as text. */
function withText(content: JsonObject[], value: unknown): JsonObject[] {
  if (content.some((block) => block.type === 'text')) return content;
  return [...content, { type: 'text', text: JSON.stringify(value) }];
}

function mayBeObject(type: unknown): boolean {
  return type === undefined || (Array.isArray(type) && type.includes('object'));
}

/** Moves local references one level down; data keywords and embedded documents are left alone. */
function reroot(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(reroot);
  if (!isObject(schema) || typeof schema.$id === 'string') return schema;
  const moved: JsonObject = dictionary();
  for (const [key, value] of Object.entries(schema)) {
    const pointer = (key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && /^#(\/|$)/.test(value);
    if (pointer) moved[key] = `#/properties/result${value.slice(1)}`;
    else if (MAP_KEYWORDS.has(key) && isObject(value)) moved[key] = rerootAll(value);
    else moved[key] = DATA_KEYWORDS.has(key) ? value : reroot(value);
  }
  return copyNumbers(schema, moved);
}

/** Schemas by name, where a property may be called `default` or `$ref`. */
function rerootAll(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, reroot(schema)]));
}

const MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);
