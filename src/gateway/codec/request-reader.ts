// Reads what clients send. The request that comes most often is read by its parts: only its params are parsed, and of these not the
// `_meta` that a client puts at the end of each of them, always the same; that is read once. Everything else, and whatever is not
// certain, is for `readMessage`.
// 1. The message is the one that `readMessage` would have read.
// 2. What is the same for many requests cannot be changed by any of them.
import { MAX_CHARS } from '../../protocol/exact-numbers.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { isDeeperThan, readMessage } from './json-rpc.ts';
import type { Incoming, ReadLimits } from './json-rpc.ts';
import type { Form } from './sent-span.ts';
import { findSpan, parseObject } from './sent-span.ts';

export interface Recurring {
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

interface Read {
  params: JsonObject;
  /** In which they came, but for what recurs. */
  sent: string;
}

/** Of clients that share one address; each costs those of the others a comparison. */
const MAX_TAILS = 8;
const MAX_TAIL_CHARS = 4096;

export class RequestReader {
  readonly #limits: ReadLimits;
  readonly #recurring: Recurring;
  readonly #form: Form;
  readonly #tails: Tail[] = [];
  #next = 0;

  constructor(limits: ReadLimits, recurring: Recurring) {
    const { method } = recurring;
    this.#limits = limits;
    this.#recurring = recurring;
    this.#form = { afterId: `,"method":"${method}","params":{`, atStart: `{"method":"${method}","params":{` };
  }

  read(text: string): Incoming {
    const span = findSpan(text, this.#form);
    const read = span && this.#params(text.slice(span.from, span.to));
    if (!read) return this.#readWhole(text);
    const { method } = this.#recurring;
    const message = { jsonrpc: '2.0' as const, id: span.id, method, params: read.params };
    return { kind: 'message', message, sent: toKept(read.sent) };
  }

  #readWhole(text: string): Incoming {
    const incoming = readMessage(text, this.#limits);
    return incoming.kind === 'message' ? { ...incoming, sent: toKept(text) } : incoming;
  }

  #params(text: string): Read | undefined {
    const { maxDepth } = this.#limits;
    const read = this.#parse(text);
    // A level takes two characters, so a short text needs no walk.
    return read && text.length > 2 * maxDepth && isDeeperThan(read.params, maxDepth - 1) ? undefined : read;
  }

  #parse(text: string): Read | undefined {
    const tail = this.#tailOf(text);
    if (!tail) {
      const params = this.#learn(text, parseObject(text));
      return params && { params, sent: text };
    }
    // With a brace in its place the rest is an object by itself: so the tail is the end of that object, and not of one within it
    // or of a word. If that object is empty, the comma of the tail was one too many.
    const sent = `${text.slice(0, -tail.text.length)}}`;
    const params = parseObject(sent);
    if (!params || isEmpty(params)) return undefined;
    params._meta = tail.meta;
    return { params, sent };
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

/** It stays for as long as its call does, a task for an hour: what nobody would look at is not kept. */
function toKept(sent: string): string | undefined {
  return sent.length > MAX_CHARS ? undefined : sent;
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
