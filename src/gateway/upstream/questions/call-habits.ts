// Remembers which tools, prompts and resources of a server ask questions, and which have answered without asking.
import type { Exchange } from '../../../protocol/exchange.ts';

/** Names come from clients, so their number is bounded. */
const MAX_LEARNED = 10_000;

export class CallHabits {
  readonly #asking = new Set<string>();
  readonly #answered = new Set<string>();

  /** The server has asked without naming the call, although the transport allows it. */
  asksUnnamed = false;

  /** Whether it has asked, or may have. */
  asks(subject: string): boolean {
    return this.#asking.has(subject);
  }

  /** Whether it has been answered and was never suspected of asking. */
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

/** The tool, prompt or resource that a call is about. */
export function subjectOf({ method, params }: Pick<Exchange, 'method' | 'params'>): string {
  if (method === 'tools/call') return String(params.name);
  const about = params.name ?? params.uri;
  return about === undefined ? `${method} ` : `${method} ${String(about)}`;
}
