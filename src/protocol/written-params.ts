// Params of which `_meta` is text already: most of it is the same for call after call of a client, so it is not written anew each
// time. It is for whoever only writes them; all others ask for the plain object.
import { writeExactly } from './exact-numbers.ts';
import type { JsonObject, Message } from './message.ts';

export class WrittenParams {
  readonly #own: JsonObject | undefined;
  readonly #meta: string;
  readonly #sent: string | undefined;

  /** `own` has no `_meta`; `meta` is an object as JSON, without a line end; `sent` the text in which they came. */
  constructor(own: JsonObject | undefined, meta: string, sent?: string) {
    this.#own = own;
    this.#meta = meta;
    this.#sent = sent;
  }

  get text(): string {
    const own = this.#writeOwn();
    return own === '' ? `{"_meta":${this.#meta}}` : `{${own},"_meta":${this.#meta}}`;
  }

  #writeOwn(): string {
    if (this.#own === undefined) return '';
    return this.#sent === undefined ? JSON.stringify(this.#own).slice(1, -1) : writeExactly(this.#own, this.#sent);
  }

  /** Wherever they are written together with something else, they are written like anything else. */
  toJSON(): JsonObject {
    return JSON.parse(this.text) as JsonObject;
  }
}

/** Params as they are sent. */
export type SentParams = JsonObject | WrittenParams;

/** For whoever takes messages as objects. */
export function toPlainMessage(message: Message): Message {
  const { params } = message as { params?: SentParams };
  return params instanceof WrittenParams ? { ...message, params: params.toJSON() } : message;
}
