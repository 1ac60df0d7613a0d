// Where the part of a message stands that has to be read, in a message as most peers write it: its id a plain number, first or
// last, and nothing in it that we do not know.
// 1. Around the span there is the form, the id, and nothing else. So if the span by itself is one object, the message is just that.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

/** What stands around the span, for either place of the id. The span begins with the brace at the end of each. */
export interface MessageTemplate {
  readonly afterId: string;
  /** At the beginning of the message. */
  readonly atStart: string;
}

export interface MessageSpan {
  id: number;
  from: number;
  to: number;
}

const ID_FIRST = '{"jsonrpc":"2.0","id":';
const THEN_ID = ',"jsonrpc":"2.0","id":';
/** An integer that JavaScript can tell from the next one. */
const MAX_DIGITS = 15;
const [QUOTE, ZERO, NINE, BRACE] = [0x22, 0x30, 0x39, 0x7d];

export function findSpan(text: string, form: MessageTemplate): MessageSpan | undefined {
  return idFirst(text, form) ?? idLast(text, form);
}

/** What a span is by itself; undefined where it is no object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether members may be put on and taken off at its ends. Space in between does no harm. */
export function isTight(object: string): boolean {
  return object === '{}' || (object.charCodeAt(1) === QUOTE && object.charCodeAt(object.length - 1) === BRACE);
}

function idFirst(text: string, { afterId }: MessageTemplate): MessageSpan | undefined {
  if (!hasAt(text, ID_FIRST, 0)) return undefined;
  const at = digitsEnd(text, ID_FIRST.length);
  if (at === undefined || !hasAt(text, afterId, at) || text.charCodeAt(text.length - 1) !== BRACE) return undefined;
  return { id: Number(text.slice(ID_FIRST.length, at)), from: at + afterId.length - 1, to: text.length - 1 };
}

function idLast(text: string, { atStart }: MessageTemplate): MessageSpan | undefined {
  if (!hasAt(text, atStart, 0)) return undefined;
  const to = text.lastIndexOf(THEN_ID);
  const idAt = to + THEN_ID.length;
  const at = to === -1 ? undefined : digitsEnd(text, idAt);
  if (at !== text.length - 1 || text.charCodeAt(at) !== BRACE) return undefined;
  return { id: Number(text.slice(idAt, at)), from: atStart.length - 1, to };
}

/** A third of the time of `startsWith`. */
function hasAt(text: string, part: string, at: number): boolean {
  return text.slice(at, at + part.length) === part;
}

/** Where a number of digits that begins here ends, and undefined where there is none. */
function digitsEnd(text: string, start: number): number | undefined {
  let at = start;
  while (at - start < MAX_DIGITS && isDigit(text.charCodeAt(at))) at++;
  const isNumber = at > start && (text.charCodeAt(start) !== ZERO || at === start + 1);
  return isNumber ? at : undefined;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
