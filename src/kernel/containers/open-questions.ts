// Questions that wait for their answers, by key. Every channel that asks people has one of these, and spells the questions in its own way.
// 1. A question is settled once: by its answer, a refusal, its signals or the end of its call. Whatever comes later finds nothing.
// 2. No two open questions have the same key, whatever keys their askers want. A key that is made here is made once, so that a late answer cannot
//    answer another question.
// 3. Nothing stays behind at the signals, which may outlive the question.
import type { Abortable } from '../base/cancellation.ts';
import { cancelledBy, cancelledError } from '../base/cancelled-error.ts';
import type { Settlers } from '../base/timing.ts';

/** Questions that arrive within this time form one round: long enough for those that are sent together, too short to be noticed. */
export const TOGETHER_MS = 40;

/** What ends a question before its answer. */
interface QuestionSignals {
  /** The call during which it is asked. */
  call?: Abortable | undefined;
  /** The asker, which withdraws a question that is no longer of use. */
  asker?: Abortable | undefined;
}

interface OpenQuestion<Q, A> extends Settlers<A> {
  readonly question: Q;
  readonly callOff: () => void;
}

interface OpenQuestionsOptions<Q> {
  /** Gets each question that its asker gives up. */
  onWithdrawn?: ((question: Q) => void) | undefined;
  /** If more are open, the oldest are refused. */
  max?: number | undefined;
}

/** `Q` is what the channel keeps of a question, `A` an answer. */
export class OpenQuestions<Q, A = Record<string, unknown>> {
  readonly #open = new Map<string, OpenQuestion<Q, A>>();
  readonly #options: OpenQuestionsOptions<Q>;
  #made = 0;

  constructor(options: OpenQuestionsOptions<Q> = {}) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A key for a new question: the wanted one, if it is free. */
  toKey(wanted: string | undefined, prefix: string): string {
    let key = wanted ?? `${prefix}${++this.#made}`;
    while (this.#open.has(key)) key = `${wanted === undefined ? prefix : `${wanted}-`}${++this.#made}`;
    return key;
  }

  /** Resolves with the answer. Rejects with CANCELLED as soon as a signal aborts; if one has, nothing is opened. */
  open(key: string, question: Q, { call, asker }: QuestionSignals = {}): Promise<A> {
    if (call?.aborted) return Promise.reject(cancelledBy(call));
    if (asker?.aborted) return Promise.reject(cancelledError('withdrawn'));
    const onCallEnd = (): void => this.withdraw(key, cancelledBy(call));
    const onWithdrawn = (): void => this.withdraw(key);
    call?.addEventListener('abort', onCallEnd, { once: true });
    asker?.addEventListener('abort', onWithdrawn, { once: true });
    const callOff = (): void => {
      call?.removeEventListener('abort', onCallEnd);
      asker?.removeEventListener('abort', onWithdrawn);
    };
    if (this.#open.size >= (this.#options.max ?? Infinity)) this.#refuseOldest();
    return new Promise((resolve, reject) => this.#open.set(key, { question, callOff, resolve, reject }));
  }

  get(key: string): Q | undefined {
    return this.#open.get(key)?.question;
  }

  /** Oldest first. A question may be settled meanwhile. */
  *entries(): Iterable<[string, Q]> {
    for (const [key, { question }] of this.#open) yield [key, question];
  }

  /** Returns the question, or undefined if it is not open. */
  answer(key: string, answer: A): Q | undefined {
    const open = this.#take(key);
    open?.resolve(answer);
    return open?.question;
  }

  refuse(key: string, reason: Error): Q | undefined {
    const open = this.#take(key);
    open?.reject(reason);
    return open?.question;
  }

  /** Returns all questions that were open. */
  refuseAll(reason: Error): Q[] {
    return Array.from(this.#open.keys(), (key) => this.refuse(key, reason)!);
  }

  withdraw(key: string, reason: Error = cancelledError('withdrawn')): void {
    const open = this.#take(key);
    if (!open) return;
    open.reject(reason);
    this.#options.onWithdrawn?.(open.question);
  }

  #refuseOldest(): void {
    for (const key of this.#open.keys()) return void this.refuse(key, cancelledError('withdrawn'));
  }

  #take(key: string): OpenQuestion<Q, A> | undefined {
    const open = this.#open.get(key);
    if (!open) return undefined;
    this.#open.delete(key);
    open.callOff();
    return open;
  }
}
