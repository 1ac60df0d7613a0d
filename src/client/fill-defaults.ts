// An accepted form gets the defaults of its schema for the fields that the user left out.
import type { ElicitResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';

export function fillDefaults(result: ElicitResult, request: JsonObject): ElicitResult {
  const schema = request.requestedSchema;
  if (result.action !== 'accept' || !isObject(schema) || !isObject(schema.properties)) return result;
  const content: JsonObject = { ...result.content };
  for (const [name, field] of Object.entries(schema.properties)) {
    if (content[name] === undefined && isObject(field) && field.default !== undefined) content[name] = field.default;
  }
  return { ...result, content } as ElicitResult;
}
