// The prompts that one client was sent in one session, and when it acknowledged each. An answer that names no prompt is judged by what its
// client had been sent, and had acknowledged, when the answer arrived: a second click that is handled late never answers the next question.
import { nextArrival } from '../../kernel/arrival.ts';

/** An answer may be handled while this many later prompts are sent. */
const MAX_KEPT = 8;

export interface TrailPrompt {
  readonly promptId: string;
}

export interface SentEntry<P extends TrailPrompt> {
  readonly prompt: P;
  readonly sentAt: number;
  /** The arrival of the client's acknowledgement. */
  acknowledgedAt: number | undefined;
}

export class PromptTrail<P extends TrailPrompt> {
  readonly #sent: SentEntry<P>[] = [];
  #hasMore = false;

  /** `acknowledgedAt`: the client has it with the reply to its own request. */
  send(prompt: P, acknowledgedAt?: number): SentEntry<P> {
    const entry: SentEntry<P> = { prompt, sentAt: nextArrival(), acknowledgedAt };
    this.#sent.push(entry);
    if (this.#sent.length > MAX_KEPT) {
      this.#sent.shift();
      this.#hasMore = true;
    }
    return entry;
  }

  get last(): P | undefined {
    return this.#sent.at(-1)?.prompt;
  }

  /** An acknowledgement may still be on its way through this process. */
  get isUnsure(): boolean {
    return this.#sent.at(-1)?.acknowledgedAt === undefined;
  }

  /** The prompt that was sent last before an answer arrived. It is sure if the client had acknowledged it by then, or if there was none before it. */
  sentBefore(arrival: number): { prompt: P; isSure: boolean } | undefined {
    const entry = this.#sent.findLast(({ sentAt }) => sentAt < arrival);
    return entry && { prompt: entry.prompt, isSure: this.#isSure(entry, arrival) };
  }

  /** The same, but not one that had to be acknowledged and was not. */
  meantAt(arrival: number, needsAcknowledgement: (prompt: P) => boolean): P | undefined {
    const isMeant = (entry: SentEntry<P>): boolean =>
      entry.sentAt < arrival && (this.#isSure(entry, arrival) || !needsAcknowledgement(entry.prompt));
    return this.#sent.findLast(isMeant)?.prompt;
  }

  #isSure(entry: SentEntry<P>, arrival: number): boolean {
    const isFirst = !this.#hasMore && entry === this.#sent[0];
    return isFirst || (entry.acknowledgedAt !== undefined && entry.acknowledgedAt < arrival);
  }
}
