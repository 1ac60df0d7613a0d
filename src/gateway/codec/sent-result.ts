// A small answer as most servers write it: read, and its result kept as it was sent. Everything else is for `readMessage`.
// 1. What is kept is the result and nothing but the result: it is parsed by itself, so that no second id can hide behind it.
// 2. It holds no line end, so it may stand in a line, an event or a frame.
// 3. It begins with its first key, or is `{}`, and ends with its brace: members may be put on and taken off there.
import { isObject } from '../../protocol/message.ts';
import type { JsonObject, ResultMessage } from '../../protocol/message.ts';
import type { ReadLimits } from './json-rpc.ts';
import { isDeeperThan } from './json-rpc.ts';

export interface SentResult {
  message: ResultMessage;
  /** The result, as text. */
  sent: string;
}

interface Span {
  id: number;
  from: number;
  to: number;
}

const ID_FIRST = '{"jsonrpc":"2.0","id":';
const THEN_RESULT = ',"result":{';
const RESULT_FIRST = '{"result":{';
const THEN_ID = ',"jsonrpc":"2.0","id":';
/** Ours have no more. */
const MAX_DIGITS = 15;
const [QUOTE, ZERO, NINE, BRACE] = [0x22, 0x30, 0x39, 0x7d];

export function readSentResult(text: string, { maxDepth }: ReadLimits): SentResult | undefined {
  const span = idFirst(text) ?? resultFirst(text);
  if (!span || text.includes('\n') || text.includes('\r')) return undefined;
  const sent = text.slice(span.from, span.to);
  const result = isTight(sent) ? parse(sent) : undefined;
  // A level takes two characters, so a short text needs no walk.
  if (!result || (text.length > 2 * maxDepth && isDeeperThan(result, maxDepth - 1))) return undefined;
  return { message: { jsonrpc: '2.0', id: span.id, result }, sent };
}

function idFirst(text: string): Span | undefined {
  if (!text.startsWith(ID_FIRST)) return undefined;
  const at = digitsEnd(text, ID_FIRST.length);
  if (at === undefined || !text.startsWith(THEN_RESULT, at) || text.charCodeAt(text.length - 1) !== BRACE)
    return undefined;
  return { id: Number(text.slice(ID_FIRST.length, at)), from: at + THEN_RESULT.length - 1, to: text.length - 1 };
}

function resultFirst(text: string): Span | undefined {
  if (!text.startsWith(RESULT_FIRST)) return undefined;
  const to = text.lastIndexOf(THEN_ID);
  const idAt = to + THEN_ID.length;
  const at = to === -1 ? undefined : digitsEnd(text, idAt);
  if (at !== text.length - 1 || text.charCodeAt(at) !== BRACE) return undefined;
  return { id: Number(text.slice(idAt, at)), from: RESULT_FIRST.length - 1, to };
}

/** Where a number of digits that begins here ends, and undefined where there is none. */
function digitsEnd(text: string, start: number): number | undefined {
  let at = start;
  while (at - start < MAX_DIGITS && isDigit(text.charCodeAt(at))) at++;
  const isNumber = at > start && (text.charCodeAt(start) !== ZERO || at === start + 1);
  return isNumber ? at : undefined;
}

/** Space in between does no harm. */
function isTight(object: string): boolean {
  return object === '{}' || (object.charCodeAt(1) === QUOTE && object.charCodeAt(object.length - 1) === BRACE);
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
