// The parts of a result that a model reads: texts, and structured content as JSON. Pictures, sound and other bytes are not among them.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { withoutCovert, withoutHidden } from '../../../../shared/text/hidden.ts';

/** One text on its way to a model. */
export interface ScreenPart {
  /** `data`: structured content as JSON; `error`: the message of an error. */
  kind: 'text' | 'data' | 'error';
  text: string;
}

/** The members of results that hold what models read. */
const HOLDERS = ['content', 'contents', 'messages'] as const;
const BYTES = new Set(['data', 'blob']);

export function partsOf(result: JsonObject): ScreenPart[] {
  const texts = HOLDERS.flatMap((key) => textsIn(result[key]));
  const parts: ScreenPart[] = texts.map((text) => ({ kind: 'text', text }));
  const { structuredContent: data } = result;
  return data === undefined ? parts : [...parts, { kind: 'data', text: JSON.stringify(data) }];
}

/** Without hidden characters; the same object if there are none. */
export function withoutHiddenParts(result: JsonObject): JsonObject {
  const changed: JsonObject = {};
  for (const key of [...HOLDERS, 'structuredContent']) {
    const clean = cleaned(result[key]);
    if (clean !== result[key]) changed[key] = clean;
  }
  return Object.keys(changed).length > 0 ? { ...result, ...changed } : result;
}

function textsIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((block: unknown) => {
    if (!isObject(block)) return [];
    const { text, title, name, description, resource, content } = block;
    const own = [text, title, name, description].filter((one) => typeof one === 'string');
    return [...own, ...textsIn([resource, content])];
  });
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return withoutCovert(withoutHidden(value));
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map(cleaned);
    return all.some((one, index) => one !== value[index]) ? all : value;
  }
  const members = Object.entries(value).map(([key, one]) => [key, BYTES.has(key) ? one : cleaned(one)] as const);
  return members.some(([key, one]) => one !== (value as JsonObject)[key]) ? Object.fromEntries(members) : value;
}
