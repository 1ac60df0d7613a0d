// Cuts a tool result to a size: whole blocks while they fit, then the beginning of a text, then a note.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';

/** Undefined for structured content, which has to match its schema. */
export function truncate(result: JsonObject, maxBytes: number, note: string): JsonObject | undefined {
  if (result.structuredContent !== undefined || !Array.isArray(result.content)) return undefined;
  const last = { type: 'text', text: note };
  const { content, ...rest } = result;
  let left = maxBytes - sizeOf({ ...rest, content: [last] });
  const kept: unknown[] = [];
  for (const block of content as unknown[]) {
    const size = sizeOf(block) + 1;
    if (size <= left) {
      kept.push(block);
      left -= size;
      continue;
    }
    if (isObject(block) && typeof block.text === 'string') {
      const text = cut(block.text, left - sizeOf({ ...block, text: '' }) - 1);
      if (text !== '') kept.push({ ...block, text });
    }
    break;
  }
  return left < 0 ? undefined : { ...rest, content: [...kept, last] };
}

/** As many characters as fit when written as JSON. Never splits a character. */
function cut(text: string, maxBytes: number): string {
  let [low, high] = [0, Math.max(0, Math.min(text.length, maxBytes))];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sizeOf(text.slice(0, middle)) - 2 <= maxBytes) low = middle;
    else high = middle - 1;
  }
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(low - 1));
  return text.slice(0, isHalf ? low - 1 : low);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
