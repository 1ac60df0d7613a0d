// Keeps the outcome of ended token sessions in the shared store. Their last token is spent, so a client that missed the reply could not
// learn it otherwise. The header, with the sealed result, is kept until the client has acknowledged it.
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
