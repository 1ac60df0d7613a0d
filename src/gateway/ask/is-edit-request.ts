// Whether what came in the place of an answer is the wish to change an earlier one. What becomes of it is the asker's business.
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export function isEditRequest({ revisable }: Ask, content: unknown): content is JsonObject {
  if (revisable !== true || !isObject(content)) return false;
  const { edit, back, ...rest } = content;
  return Object.keys(rest).length === 0 && (isObject(edit) || back === true || typeof back === 'string');
}
