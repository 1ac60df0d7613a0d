// Reads the most frequent messages faster: requests of one method from clients, and small results from servers. A message in the
// form that most peers write (a plain number as id, first or last, and no unknown members) is parsed only between its template and
// its id; if that span is one object, the message is valid. Everything else is left to `readMessage`.
import { keepNumbers } from '../../kernel/raw/exact-numbers.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject, ResultMessage } from '../../kernel/message.ts';
import { readMessage } from './json-rpc.ts';
import type { ParsedInput } from './json-rpc.ts';
import { excessOf } from './json-shape.ts';
import type { ReadLimits } from './json-shape.ts';

interface RecurringRequest {
  /** A method name without escapes. */
  readonly method: string;
  /** Whether this `_meta` is likely to repeat. */
  isMeta(meta: JsonObject): boolean;
}

interface Tail {
  /** The text from the comma before `_meta` to the end of the params. */
  readonly text: string;
  readonly meta: JsonObject;
}

/** For clients that share one endpoint; each adds a comparison for the others. */
const MAX_TAILS = 8;
const MAX_TAIL_CHARS = 4096;

/**
 * Only the params of a request are parsed, and the `_meta` that a client repeats at their end is parsed once.
 * 1. The result equals that of `readMessage`.
 * 2. Shared parts are frozen.
 */
export class RequestReader {
  readonly #limits: ReadLimits;
  readonly #recurring: RecurringRequest;
  readonly #form: MessageTemplate;
  readonly #tails: Tail[] = [];
  #next = 0;

  constructor(limits: ReadLimits, recurring: RecurringRequest) {
    const { method } = recurring;
    this.#limits = limits;
    this.#recurring = recurring;
    this.#form = { afterId: `,"method":"${method}","params":{`, atStart: `{"method":"${method}","params":{` };
  }

  read(text: string): ParsedInput {
    const span = findSpan(text, this.#form, this.#limits);
    const params = span && this.#parse(text.slice(span.from, span.to));
    if (!params) return readMessage(text, this.#limits);
    return { kind: 'message', message: { jsonrpc: '2.0', id: span.id, method: this.#recurring.method, params } };
  }

  #parse(text: string): JsonObject | undefined {
    const tail = this.#tails.length > 0 ? this.#tailOf(text) : undefined;
    if (!tail) {
      const whole = keepNumbers(parseObject(text), text);
      if (whole?._meta !== undefined) this.#learn(text, whole._meta);
      return whole;
    }
    // If the rest plus a brace is an object, the tail ends that object and not a nested one or a string. If that object
    // is empty, the tail's comma was invalid.
    const own = `${text.slice(0, -tail.text.length)}}`;
    const params = keepNumbers(parseObject(own), own);
    if (!params || isEmpty(params)) return undefined;
    params._meta = tail.meta;
    return params;
  }

  #tailOf(text: string): Tail | undefined {
    for (const tail of this.#tails) if (text.slice(-tail.text.length) === tail.text) return tail;
    return undefined;
  }

  #learn(text: string, meta: unknown): void {
    if (!isObject(meta) || text.length > MAX_TAIL_CHARS || !this.#recurring.isMeta(meta)) return;
    const tail = `,"_meta":${JSON.stringify(meta)}}`;
    if (!text.endsWith(tail)) return;
    this.#tails[this.#next] = { text: tail, meta: deepFreeze(meta) };
    this.#next = (this.#next + 1) % MAX_TAILS;
  }
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** Depth is limited by the text it was parsed from. */
function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFreeze(member);
  return Object.freeze(value);
}

interface FastResult {
  message: ResultMessage;
  /** The result, as text. */
  sent: string;
}

const RESULT: MessageTemplate = { afterId: ',"result":{', atStart: '{"result":{' };

/**
 * Reads a small answer, and keeps the text of the result.
 * 1. The kept text is exactly the result: it is parsed by itself, so that no second id can hide behind it.
 * 2. It contains no line end, so it fits into a line, an event or a frame.
 * 3. It is `{}`, or begins with a key and ends with a brace, so that members can be added and removed at its ends.
 */
export function readFastResult(text: string, limits: ReadLimits): FastResult | undefined {
  const span = findSpan(text, RESULT, limits);
  if (!span || text.includes('\n') || text.includes('\r')) return undefined;
  const sent = text.slice(span.from, span.to);
  const result = isTight(sent) ? parseObject(sent) : undefined;
  if (!result) return undefined;
  return { message: { jsonrpc: '2.0', id: span.id, result }, sent };
}

/** The text around the span, for both positions of the id. The span begins with the brace at the end of each. */
interface MessageTemplate {
  readonly afterId: string;
  /** At the beginning of the message. */
  readonly atStart: string;
}

interface MessageSpan {
  id: number;
  from: number;
  to: number;
}

const ID_FIRST = '{"jsonrpc":"2.0","id":';
const THEN_ID = ',"jsonrpc":"2.0","id":';
/** Safe integers only. */
const MAX_DIGITS = 15;
const [QUOTE, ZERO, NINE, BRACE] = [0x22, 0x30, 0x39, 0x7d];

/** Undefined for a message of another form, or one that has too much of something. */
function findSpan(text: string, form: MessageTemplate, limits: ReadLimits): MessageSpan | undefined {
  const span = idFirst(text, form) ?? idLast(text, form);
  // Each level takes two characters, so a short text needs no check.
  const isShort = text.length <= 2 * limits.maxDepth;
  return span && (isShort || excessOf(text, limits) === undefined) ? span : undefined;
}

/** Parses a span; undefined if it is not an object. */
function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether members can be added and removed at its ends. Inner space does not matter. */
function isTight(object: string): boolean {
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
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) {
    if (++at - start === MAX_DIGITS) break;
  }
  const isNumber = at > start && (text.charCodeAt(start) !== ZERO || at === start + 1);
  return isNumber ? at : undefined;
}
