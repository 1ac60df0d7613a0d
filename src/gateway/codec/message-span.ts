// Finds the part of a message that must be parsed, if the message has the form that most peers write: a plain number as
// id, first or last, and no unknown members.
// 1. Only the template and the id surround the span. So if the span is one object, the message is valid.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

/** The text around the span, for both positions of the id. The span begins with the brace at the end of each. */
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
/** Safe integers only. */
const MAX_DIGITS = 15;
const [QUOTE, ZERO, NINE, BRACE] = [0x22, 0x30, 0x39, 0x7d];

export function findSpan(text: string, form: MessageTemplate): MessageSpan | undefined {
  return idFirst(text, form) ?? idLast(text, form);
}

/** Parses a span; undefined if it is not an object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether members can be added and removed at its ends. Inner space does not matter. */
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

/** Three times as fast as `startsWith`. */
function hasAt(text: string, part: string, at: number): boolean {
  return text.slice(at, at + part.length) === part;
}

/** The end of the digits that begin here; undefined if there are none. */
function digitsEnd(text: string, start: number): number | undefined {
  let at = start;
  while (at - start < MAX_DIGITS && isDigit(text.charCodeAt(at))) at++;
  const isNumber = at > start && (text.charCodeAt(start) !== ZERO || at === start + 1);
  return isNumber ? at : undefined;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
