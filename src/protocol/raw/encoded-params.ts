// Params of which `_meta` is text already: most of it is the same for every call of a client, so it is not written again each
// time. It is for whoever only writes them; all others ask for the plain object.
import { parseExactly, writeExactly } from './exact-numbers.ts';
import type { JsonObject, Message } from '../message.ts';

export class EncodedParams {
  readonly #own: JsonObject | undefined;
  readonly #meta: string;

  /** `own` has no `_meta`; `meta` is an object as JSON, without a line end. */
  constructor(own: JsonObject | undefined, meta: string) {
    this.#own = own;
    this.#meta = meta;
  }

  get text(): string {
    const own = this.#own === undefined ? '' : writeExactly(this.#own).slice(1, -1);
    return own === '' ? `{"_meta":${this.#meta}}` : `{${own},"_meta":${this.#meta}}`;
  }

  /** Wherever they are written together with something else, they are written like anything else. */
  toJSON(): JsonObject {
    return parseExactly(this.text) as JsonObject;
  }
}

/** Params as they are sent. */
export type OutgoingParams = JsonObject | EncodedParams;

/** For whoever takes messages as objects. */
export function toPlainMessage(message: Message): Message {
  const { params } = message as { params?: OutgoingParams };
  return params instanceof EncodedParams ? { ...message, params: params.toJSON() } : message;
}
