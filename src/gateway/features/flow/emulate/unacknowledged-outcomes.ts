// The outcomes of emulated sessions, until their clients have acknowledged them.
import type { JsonObject } from '../../../../kernel/message.ts';

const MAX_BYTES_EACH = 512 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;

/** Keeps the outcomes of emulated sessions until their clients have acknowledged them. Memory is limited; the oldest go first. */
export class UnacknowledgedOutcomes {
  readonly #texts = new Map<string, string>();
  #bytes = 0;

  keep(id: string, outcome: JsonObject): void {
    const text = JSON.stringify(outcome);
    if (text.length > MAX_BYTES_EACH) return;
    this.forget(id);
    this.#texts.set(id, text);
    this.#bytes += text.length;
    while (this.#bytes > MAX_BYTES) this.forget(this.#texts.keys().next().value!);
  }

  get(id: string): JsonObject | undefined {
    const text = this.#texts.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as JsonObject);
  }

  forget(id: string): void {
    this.#bytes -= this.#texts.get(id)?.length ?? 0;
    this.#texts.delete(id);
  }
}
