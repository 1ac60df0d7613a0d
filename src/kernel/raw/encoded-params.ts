// Params whose `_meta` is already encoded, because most of it is the same for every call of a client. For code that
// only writes them; all other code uses the plain object.
import { parseExactly, writeExactly } from './exact-numbers.ts';
import type { JsonObject, Message } from '../message.ts';

export class EncodedParams {
  readonly #own: JsonObject | undefined;
  readonly #meta: string;

  /** `own` has no `_meta`; `meta` is a JSON object without a line end. */
  constructor(own: JsonObject | undefined, meta: string) {
    this.#own = own;
    this.#meta = meta;
  }

  get text(): string {
    const own = this.#own === undefined ? '' : writeExactly(this.#own).slice(1, -1);
    return own === '' ? `{"_meta":${this.#meta}}` : `{${own},"_meta":${this.#meta}}`;
  }

  /** Used when they are encoded as part of something else. */
  toJSON(): JsonObject {
    return parseExactly(this.text) as JsonObject;
  }
}

/** Params to send, encoded or not. */
export type OutgoingParams = JsonObject | EncodedParams;

/** For transports that take messages as objects. */
export function toPlainMessage(message: Message): Message {
  const { params } = message as { params?: OutgoingParams };
  return params instanceof EncodedParams ? { ...message, params: params.toJSON() } : message;
}
