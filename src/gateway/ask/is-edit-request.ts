// Whether an answer is instead a request to edit an earlier answer or to go back. The asker handles it.
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export function isEditRequest({ revisable }: Ask, content: unknown): content is JsonObject {
  if (revisable !== true || !isObject(content)) return false;
  const { edit, back, ...rest } = content;
  return Object.keys(rest).length === 0 && (isObject(edit) || back === true || typeof back === 'string');
}
