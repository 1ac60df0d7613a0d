// Reads what clients send. The request that comes most often is read by its parts: only its params are parsed, and of these not the
// `_meta` that a client puts at the end of each of them, always the same; that is read once. Everything else, and whatever is not
// certain, is for `readMessage`.
// 1. The message is the one that `readMessage` would have read.
// 2. What is the same for many requests cannot be changed by any of them.
import { keepNumbers } from '../../protocol/raw/exact-numbers.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { isDeeperThan, readMessage } from './json-rpc.ts';
import type { ParsedInput, ReadLimits } from './json-rpc.ts';
import type { MessageTemplate } from './message-span.ts';
import { findSpan, parseObject } from './message-span.ts';

export interface RecurringRequest {
  /** A plain word. */
  readonly method: string;
  /** Whether another request is likely to come with the same. */
  isMeta(meta: JsonObject): boolean;
}

interface Tail {
  /** From the comma before `_meta` to the end of the params. */
  readonly text: string;
  readonly meta: JsonObject;
}

/** Of clients that share one address; each costs those of the others a comparison. */
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
    // A level takes two characters, so a short text needs no walk.
    return params && text.length > 2 * maxDepth && isDeeperThan(params, maxDepth - 1) ? undefined : params;
  }

  #parse(text: string): JsonObject | undefined {
    const tail = this.#tailOf(text);
    if (!tail) return this.#learn(text, readParams(text));
    // With a brace in its place the rest is an object by itself: so the tail is the end of that object, and not of one within it
    // or of a word. If that object is empty, the comma of the tail was one too many.
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

/** Nothing in it is deeper than the text it was read from allows. */
function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFreeze(member);
  return Object.freeze(value);
}
