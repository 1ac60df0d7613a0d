// To whom a question goes that came on a connection and names no call.
// 1. Calls of one client all lead to the right person: the latest is taken; if it ends before the answer it was another one.
// 2. If there are calls of several clients, or of one that is asked by way of the call itself, it is never guessed: the question
//    waits until only one is left that can have asked it. The others end by themselves, and no new ones come while it waits.
//    Where as many questions wait as there are calls, more than one may have asked; then, after a while, all are refused.
// 3. Without a call in flight it is a question to the client itself, where its era knows such; a client that is about to come
//    is waited for.
import type { Ask, ClientView } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import { PassingMap } from '../../shared/passing-map.ts';

export type Put = (ask: Ask, signal?: AbortSignal) => Promise<JsonObject>;

/** How long questions wait that may never be told apart. */
const DISPUTE_MS = 5000;

type Verdict = 'look again' | 'refused';

/** A call that may ask. */
export interface Caller {
  readonly put: Put;
  readonly client: ClientView;
  /** The call has asked, or may have: next time it is made alone. */
  onAsked(): void;
}

export class AskRouting {
  readonly #clock: Clock;
  readonly #calls = new PassingMap<number, Caller>();
  #entered = 0;
  /** Questions of which it is not clear yet which call has asked them. */
  readonly #disputed = new Set<(verdict: Verdict) => void>();
  readonly #waiting = new Set<() => void>();
  #client: Put | undefined;
  #isExpecting: boolean;

  constructor(isExpecting: boolean, clock: Clock) {
    this.#isExpecting = isExpecting;
    this.#clock = clock;
  }

  /** Somebody will attend who can be asked outside of calls. */
  get isExpecting(): boolean {
    return this.#isExpecting;
  }

  /** Questions wait for a client that is about to come. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  get isDisputed(): boolean {
    return this.#disputed.size > 0;
  }

  /** The server has asked without saying for which call, though the wire could have told. */
  areUnnamed = false;

  /** A call is in flight; returns its place, to be left when it has ended. */
  enter(caller: Caller): number {
    const place = ++this.#entered;
    this.#calls.set(place, caller);
    return place;
  }

  leave(place: number): void {
    this.#calls.delete(place);
    if (this.#disputed.size > 0) this.#lookAgain();
  }

  /** The client is there, and answers what belongs to no call of it. */
  attend(client: Put): void {
    this.#client = client;
    this.#decide();
  }

  /** Nobody will attend, now or any more. */
  dismiss(): void {
    this.#client = undefined;
    this.#decide();
  }

  async put(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const { latest, isCertain } = this.#latest();
    if (latest) {
      this.areUnnamed = true;
      if (!isCertain) return this.#dispute(ask, signal);
      latest.onAsked();
      return this.#ask(latest, ask, signal);
    }
    if (this.#client) return this.#client(ask, signal);
    if (!this.#isExpecting || signal?.aborted) throw cannotBeAsked(ask);
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.put(ask, signal);
  }

  #latest() {
    const calls = this.#calls.values();
    const latest = calls.at(-1);
    const isAsked = (one: Caller): boolean => one.client === latest?.client && !one.client.assisted;
    return { latest, isCertain: calls.length <= 1 || calls.every(isAsked) };
  }

  async #dispute(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const verdict = await new Promise<Verdict>((resolve) => {
      this.#disputed.add(resolve);
      const giveUp = (): void => {
        this.#disputed.delete(resolve);
        resolve('refused');
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#refuseLater();
    });
    if (verdict === 'look again') return this.put(ask, signal);
    throw cannotBeAsked(ask);
  }

  /** A call has ended that may have been the one. */
  #lookAgain(): void {
    if (this.#latest().isCertain) this.#endDispute('look again');
    else this.#refuseLater();
  }

  #refuseLater(): void {
    const latest = [...this.#disputed].at(-1)!;
    if (this.#disputed.size >= this.#calls.size) this.#clock.after(DISPUTE_MS, () => this.#refuseAll(latest));
  }

  #refuseAll(waiting: (verdict: Verdict) => void): void {
    if (!this.#disputed.has(waiting) || this.#disputed.size < this.#calls.size) return;
    for (const caller of this.#calls.values()) caller.onAsked();
    this.#endDispute('refused');
  }

  #endDispute(verdict: Verdict): void {
    const disputed = [...this.#disputed];
    this.#disputed.clear();
    for (const resolve of disputed) resolve(verdict);
  }

  async #ask(call: Caller, ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    try {
      return await call.put(ask, signal);
    } catch (thrown) {
      const isCalledOff = thrown instanceof GatewayError && thrown.code === 'CANCELLED' && !signal?.aborted;
      const isWrongCall = isCalledOff && !this.#calls.values().includes(call);
      if (!isWrongCall || (this.#calls.size === 0 && !this.#client)) throw thrown;
      return this.put(ask, signal);
    }
  }

  #decide(): void {
    this.#isExpecting = false;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function cannotBeAsked({ method }: Ask): GatewayError {
  return new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: method });
}
