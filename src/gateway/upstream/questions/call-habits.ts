// What is known of a server's tools, prompts and resources: which of them ask, and which were answered without asking.
import type { Exchange } from '../../../protocol/exchange.ts';

/** Names come from clients. */
const MAX_LEARNED = 10_000;

export class CallHabits {
  readonly #asking = new Set<string>();
  readonly #answered = new Set<string>();

  /** The server asks without naming the call, though the wire could tell. */
  asksUnnamed = false;

  /** It has asked, or may have. */
  asks(subject: string): boolean {
    return this.#asking.has(subject);
  }

  /** It has been answered before, and was never suspected of asking. */
  isQuiet(subject: string): boolean {
    return this.#answered.has(subject) && !this.#asking.has(subject);
  }

  learnAsked(subject: string): void {
    if (this.#asking.size < MAX_LEARNED) this.#asking.add(subject);
  }

  learnAnswered(subject: string): void {
    if (!this.#answered.has(subject) && this.#answered.size < MAX_LEARNED) this.#answered.add(subject);
  }
}

/** What a call is about, as far as it tells whether it asks. */
export function subjectOf({ method, params }: Pick<Exchange, 'method' | 'params'>): string {
  if (method === 'tools/call') return String(params.name);
  const about = params.name ?? params.uri;
  return about === undefined ? `${method} ` : `${method} ${String(about)}`;
}
