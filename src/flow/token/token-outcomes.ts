// How sessions that travel in tokens have ended, where a store counts their turns: their last token is used up, so that bringing it again leads
// nowhere. What is kept is the header, in which the result is sealed, until the client has acknowledged it.
import { hash } from 'node:crypto';
import type { Header } from '../journal.ts';
import type { FlowStore } from '../store/store.ts';

export class TokenOutcomes {
  readonly #store: FlowStore;
  readonly #ms: number;

  constructor(store: FlowStore, ms: number) {
    this.#store = store;
    this.#ms = ms;
  }

  async keep(header: Header): Promise<void> {
    if (header.outcome !== undefined) await this.#put(header.id, Buffer.from(JSON.stringify(header)));
  }

  async get(id: string): Promise<Header | undefined> {
    const bytes = await this.#store.getBlob(toName(id));
    return bytes?.length ? (JSON.parse(Buffer.from(bytes).toString()) as Header) : undefined;
  }

  forget(id: string): Promise<void> {
    return this.#put(id, new Uint8Array());
  }

  #put(id: string, bytes: Uint8Array): Promise<void> {
    return this.#store.putBlob(toName(id), bytes, this.#ms);
  }
}

function toName(id: string): string {
  return hash('sha256', `mcp-parley/ended\0${id}`, 'hex');
}
