// Structured output before the stateless era: unknown to 2024-11-05 and 2025-03-26, an object from 2025-06-18 on. A value
// or schema that is no object is wrapped as `result`, as the official SDK does, so that clients see one shape (matrix §4.6).
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { Features } from '../revisions.ts';

export function wrapStructured(result: JsonObject, features: Features): JsonObject {
  const { structuredContent } = result;
  if (structuredContent === undefined || (features.structured && isObject(structuredContent))) return result;
  const { structuredContent: dropped, ...rest } = result;
  const content = withText(rest.content as JsonObject[], dropped);
  return features.structured ? { ...rest, content, structuredContent: { result: dropped } } : { ...rest, content };
}

export function wrapOutputSchema(schema: unknown): unknown {
  if (!isObject(schema) || schema.type === 'object') return schema;
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

/** Pointers into the same document now start one level deeper; data keywords and documents of their own are left alone. */
function reroot(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(reroot);
  if (!isObject(schema) || typeof schema.$id === 'string') return schema;
  const moved: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    const pointer = (key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && /^#(\/|$)/.test(value);
    if (pointer) moved[key] = `#/properties/result${value.slice(1)}`;
    else moved[key] = DATA_KEYWORDS.has(key) ? value : reroot(value);
  }
  return moved;
}

const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);
