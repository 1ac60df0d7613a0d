// Structured output before the stateless era: unknown to 2024-11-05 and 2025-03-26, an object from 2025-06-18 on. A value
// or schema that is no object is wrapped as `result`, as the official SDK does, so that clients see one shape (matrix §4.6).
import { copyNumbers } from '../../../protocol/raw/exact-numbers.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { Features } from '../revisions.ts';
import { dictionary } from '../../../shared/containers/dictionary.ts';

export function wrapStructured(result: JsonObject, features: Features): JsonObject {
  const { structuredContent } = result;
  if (structuredContent === undefined || (features.structured && isObject(structuredContent))) return result;
  const { structuredContent: dropped, ...rest } = result;
  const content = withText(Array.isArray(rest.content) ? (rest.content as JsonObject[]) : [], dropped);
  return features.structured ? { ...rest, content, structuredContent: { result: dropped } } : { ...rest, content };
}

/** Undefined where a value may be an object or not: whether to wrap would depend on the value, and no one schema fits both. */
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

/** A client that knows no structured content reads the text. */
function withText(content: JsonObject[], value: unknown): JsonObject[] {
  if (content.some((block) => block.type === 'text')) return content;
  return [...content, { type: 'text', text: JSON.stringify(value) }];
}

function mayBeObject(type: unknown): boolean {
  return type === undefined || (Array.isArray(type) && type.includes('object'));
}

/** Pointers into the same document now start one level deeper; data keywords and documents of their own are left alone. */
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

/** Schemas by name: a property may well be called `default` or `$ref`. */
function rerootAll(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, reroot(schema)]));
}

const MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);
