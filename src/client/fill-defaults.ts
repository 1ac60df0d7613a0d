// Fills the defaults of a form's schema into an accepted answer.
import type { ElicitResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';

export function fillDefaults(result: ElicitResult, request: JsonObject): ElicitResult {
  const schema = request.requestedSchema;
  if (result.action !== 'accept' || !isObject(schema) || !isObject(schema.properties)) return result;
  const defaults = Object.entries(schema.properties).flatMap(([name, field]) =>
    isObject(field) && field.default !== undefined ? [[name, field.default] as const] : [],
  );
  const given = Object.entries(result.content ?? {}).filter(([, value]) => value !== undefined);
  // fromEntries accepts every name; a server may call a field `__proto__`.
  return { ...result, content: Object.fromEntries([...defaults, ...given]) } as ElicitResult;
}
