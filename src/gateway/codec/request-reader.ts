// Reads requests from clients, with a fast path for the most frequent one: only its params are parsed, and the `_meta`
// that a client repeats at their end is parsed once. Everything else is left to `readMessage`.
// 1. The result equals that of `readMessage`.
// 2. Shared parts are frozen.
import { keepNumbers } from '../../protocol/raw/exact-numbers.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { isDeeperThan, readMessage } from './json-rpc.ts';
import type { ParsedInput, ReadLimits } from './json-rpc.ts';
import type { MessageTemplate } from './message-span.ts';
import { findSpan, parseObject } from './message-span.ts';

export interface RecurringRequest {
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
    const span = findSpan(text, this.#form);
    const params = span && this.#params(text.slice(span.from, span.to));
    if (!params) return readMessage(text, this.#limits);
    return { kind: 'message', message: { jsonrpc: '2.0', id: span.id, method: this.#recurring.method, params } };
  }

  #params(text: string): JsonObject | undefined {
    const { maxDepth } = this.#limits;
    const params = this.#parse(text);
    // Each level takes two characters, so a short text needs no check.
    return params && text.length > 2 * maxDepth && isDeeperThan(params, maxDepth - 1) ? undefined : params;
  }

  #parse(text: string): JsonObject | undefined {
    const tail = this.#tailOf(text);
    if (!tail) return this.#learn(text, readParams(text));
    // If the rest plus a brace is an object, the tail ends that object and not a nested one or a string. If that object
    // is empty, the tail's comma was invalid.
    const params = readParams(`${text.slice(0, -tail.text.length)}}`);
    if (!params || isEmpty(params)) return undefined;
    params._meta = tail.meta;
    return params;
  }

  #tailOf(text: string): Tail | undefined {
    for (const tail of this.#tails) if (text.slice(-tail.text.length) === tail.text) return tail;
    return undefined;
  }

  #learn(text: string, params: JsonObject | undefined): JsonObject | undefined {
    const meta = params?._meta;
    if (!isObject(meta) || text.length > MAX_TAIL_CHARS || !this.#recurring.isMeta(meta)) return params;
    const tail = `,"_meta":${JSON.stringify(meta)}}`;
    if (!text.endsWith(tail)) return params;
    this.#tails[this.#next] = { text: tail, meta: deepFreeze(meta) };
    this.#next = (this.#next + 1) % MAX_TAILS;
    return params;
  }
}

function readParams(text: string): JsonObject | undefined {
  return keepNumbers(parseObject(text), text);
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
