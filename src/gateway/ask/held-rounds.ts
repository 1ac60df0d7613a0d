// Rounds of questions that wait, and how they ended. What must hold:
// 1. A handle is known to its principal only; to everybody else it does not exist.
// 2. A handle serves once: one answer, and one who comes for what follows it.
// 3. Nothing waits for ever: a round that nobody answers in time ends its call, and so does a client that goes away. How it
//    ended is remembered for a while.
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import { randomId } from '../../shared/crypto/ids.ts';
import type { Limits } from '../../shared/limits.ts';
import { HANDLE } from './answer-tool.ts';
import type { RoundAnswer, AnsweredBy, RoundQuestion, QuestionRound } from './question-round.ts';

/** The call that asked. */
export interface AskingCall {
  readonly client: ClientView;
  readonly about: QuestionRound['about'];
  /** Whether it has been sent to a server, which may then have acted. */
  readonly isSent: boolean;
  /** All answers of the round. */
  settle(answers: Record<string, RoundAnswer>, by: AnsweredBy): void;
  /** Nobody will answer. */
  expire(round: HeldRound): void;
  /** Tells another request what follows; absent where the request that asked is still open. */
  carryBy?(exchange: Exchange): Promise<ResultObject>;
}

/** Why a handle opens nothing any more. */
export interface EndedRound {
  how: 'answered' | 'expired';
  isSent: boolean;
}

const MAX_ENDED = 1000;

export class HeldRounds {
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #open = new Map<string, HeldRound>();
  readonly #perPrincipal = new Map<string, number>();
  readonly #ended = new Map<string, EndedRound & { principal: string }>();

  constructor(limits: Limits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Throws TOO_MANY when the principal has too many questions open. `waitsFor`: nothing is asked, and what it waits for in words. */
  open(call: AskingCall, questions: readonly RoundQuestion[], waitsFor?: string): HeldRound {
    const { principal } = call.client;
    const count = this.#perPrincipal.get(principal) ?? 0;
    if (count >= this.#limits.maxParked) throw tooMany();
    // The question itself may stop waiting sooner; then the call moves on, and the handle leads to what follows.
    const waitsMs = Math.min(this.#limits.parkedMs, ...questions.map(({ ask }) => ask.waitsMs ?? Infinity));
    const expiresAt = this.#clock.now() + waitsMs;
    const round = new HeldRound(call, questions, expiresAt);
    round.waitsFor = waitsFor;
    this.renew(round);
    this.#open.set(round.handle, round);
    this.#perPrincipal.set(principal, count + 1);
    return round;
  }

  /** It stays as long from now on: somebody has looked at it. */
  renew(round: HeldRound): void {
    round.forget();
    round.forget = this.#clock.after(this.#limits.parkedMs, () => this.#onTime(round));
  }

  /** For the page, which knows the person by the link. */
  get(handle: string): QuestionRound | undefined {
    return this.#open.get(handle);
  }

  find(handle: unknown, principal: string): HeldRound | undefined {
    const round = typeof handle === 'string' ? this.#open.get(handle) : undefined;
    return round?.principal === principal ? round : undefined;
  }

  hasAny(principal: string): boolean {
    return this.#perPrincipal.has(principal);
  }

  /** The handle is used up: its holder is told what follows. */
  collect(round: HeldRound): void {
    this.#remove(round, 'answered');
  }

  whyNot(handle: unknown, principal: string): EndedRound | undefined {
    const ended = typeof handle === 'string' ? this.#ended.get(handle) : undefined;
    return ended?.principal === principal ? ended : undefined;
  }

  /** The client goes away. */
  leave(client: ClientView): void {
    for (const round of this.#open.values()) if (round.call.client === client) this.#expire(round);
  }

  /** The gateway goes away: nobody will come back. */
  close(): void {
    for (const round of this.#open.values()) this.#expire(round);
  }

  /** A call whose question was withdrawn has gone on, and may wait for another one. */
  #onTime(round: HeldRound): void {
    if (round.isWithdrawn) this.#remove(round, 'expired');
    else this.#expire(round);
  }

  #expire(round: HeldRound): void {
    this.#remove(round, round.isOpen ? 'expired' : 'answered');
    round.isOpen = false;
    round.wake();
    round.call.expire(round);
  }

  #remove(round: HeldRound, how: EndedRound['how']): void {
    const { handle, principal, call } = round;
    round.forget();
    if (!this.#open.delete(handle)) return;
    const left = (this.#perPrincipal.get(principal) ?? 1) - 1;
    if (left > 0) this.#perPrincipal.set(principal, left);
    else this.#perPrincipal.delete(principal);
    this.#ended.set(handle, { how, isSent: call.isSent, principal });
    if (this.#ended.size > MAX_ENDED) this.#ended.delete(this.#ended.keys().next().value!);
  }
}

export class HeldRound implements QuestionRound {
  readonly handle: string = randomId(HANDLE);
  readonly questions: readonly RoundQuestion[];
  readonly expiresAt: number;
  readonly call: AskingCall;
  /** What it waits for, where that is nothing the user can do. */
  waitsFor: string | undefined;
  /** Answers of a model that did not fit. */
  attempts = 0;
  isOpen = true;
  /** The call does not need the answer any more. */
  isWithdrawn = false;
  forget: () => void = () => {};
  #onAnswer: (() => void)[] = [];

  constructor(call: AskingCall, questions: readonly RoundQuestion[], expiresAt: number) {
    this.call = call;
    this.questions = questions;
    this.expiresAt = expiresAt;
  }

  get principal(): string {
    return this.call.client.principal;
  }

  get about(): QuestionRound['about'] {
    return this.call.about;
  }

  answer(answers: Record<string, RoundAnswer>, by: AnsweredBy): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.call.settle(answers, by);
    this.wake();
    return true;
  }

  withdraw(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.isWithdrawn = true;
    this.wake();
  }

  /** Those who wait look again. */
  wake(): void {
    for (const tell of this.#onAnswer.splice(0)) tell();
  }

  /** Resolves when it is answered, has expired, or `giveUp` does. */
  async answered(giveUp: Promise<void>): Promise<void> {
    if (!this.isOpen) return;
    await Promise.race([giveUp, new Promise<void>((resolve) => this.#onAnswer.push(resolve))]);
  }
}

function tooMany(): GatewayError {
  return new GatewayError('TOO_MANY', { what: 'calls waiting for an answer', limit: 'maxParked' });
}
