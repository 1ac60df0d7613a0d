// Converts content blocks for revisions before 2025-06-18, which brought resource links. Audio came with 2025-03-26.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { Features } from '../revisions.ts';

/** Returns the same array if no block changes. */
export function toOlderContent(content: JsonObject[], features: Features): JsonObject[] {
  const older = content.map((block, index) => toBlock(block, index, features));
  return older.some((block, index) => block !== content[index]) ? older : content;
}

function toBlock(given: JsonObject, index: number, features: Features): JsonObject {
  const block = toAnnotated(given);
  if (block.type === 'resource_link') return { type: 'text', text: linkText(block) };
  if (block.type === 'audio' && !features.audio) {
    const { data, mimeType } = block;
    return { type: 'resource', resource: { uri: `content://audio/${index}`, mimeType, blob: data } };
  }
  return block;
}

/** `lastModified` exists from 2025-06-18 on. */
export function toAnnotated(holder: JsonObject): JsonObject {
  const { annotations } = holder;
  if (!isObject(annotations) || annotations.lastModified === undefined) return holder;
  const { lastModified: _, ...older } = annotations;
  return { ...holder, annotations: older };
}

function linkText({ name, uri, mimeType }: JsonObject): string {
  const type = typeof mimeType === 'string' ? ` (${mimeType})` : '';
  return `${String(name ?? uri)} — ${String(uri)}${type}`;
}
