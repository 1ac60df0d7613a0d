// Stores results in memory, bounded in number and size; drops the least recently used first.
import type { JsonObject } from '../../../../protocol/message.ts';
import { BoundedMap } from '../../../../shared/containers/bounded-map.ts';

export interface StoredResult {
  result: JsonObject;
  until: number;
  /** The method of a list, or the URI of a read resource. */
  about: string;
}

export class ResultStore {
  readonly #maxBytes: number;
  readonly #entries: BoundedMap<string, StoredResult & { bytes: number }>;
  #bytes = 0;
  /** How many changes have dropped results. */
  changes = 0;

  constructor({ maxEntries, maxBytes }: { maxEntries: number; maxBytes: number }) {
    this.#maxBytes = maxBytes;
    this.#entries = new BoundedMap(maxEntries, ({ bytes }) => (this.#bytes -= bytes));
  }

  get(key: string, now: number): StoredResult | undefined {
    const kept = this.#entries.get(key);
    if (!kept || now < kept.until) return kept;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, kept: StoredResult): void {
    const bytes = key.length + JSON.stringify(kept.result).length;
    if (bytes > this.#maxBytes) return;
    this.#entries.delete(key);
    this.#entries.set(key, { ...kept, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) this.#entries.delete(this.#entries.oldest()!);
  }

  forget(about: string): void {
    this.changes++;
    for (const [key, kept] of this.#entries.entries()) if (kept.about === about) this.#entries.delete(key);
  }
}
