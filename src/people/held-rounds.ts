// The open rounds of questions, and how the past ones ended.
// 1. Only its principal can use a handle; for everyone else it does not exist.
// 2. A handle works once: for one answer and one request that fetches what follows.
// 3. Nothing waits for ever: an unanswered round ends its call, and so does a client that leaves. The outcome is
//    remembered for a while.
import type { ClientView, Exchange } from '../kernel/exchange.ts';
import type { ResultObject } from '../kernel/raw/raw-object.ts';
import type { Clock } from '../kernel/base/clock.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import { randomId } from '../kernel/crypto/ids.ts';
import type { Limits } from '../kernel/base/limits.ts';
import { MemoryOwnedTable } from '../kernel/containers/owned-table.ts';
import type { OwnedTable } from '../kernel/containers/owned-table.ts';
import { isObject } from '../kernel/message.ts';
import type { JsonObject } from '../kernel/message.ts';
import { userOf } from './trust/answer-trust.ts';
import type { RoundAnswer, AnsweredBy, RoundQuestion, QuestionRound } from './question-round.ts';

/** The call that asked. */
export interface AskingCall {
  readonly client: ClientView;
  readonly about: QuestionRound['about'];
  /** Whether a server has received the call, and so may have acted. */
  readonly isSent: boolean;
  /** Delivers all answers of the round. */
  settle(answers: Record<string, RoundAnswer>, by: AnsweredBy, who?: string): void;
  /** Only a client that the operator trusts gets the link. */
  readonly isVouched?: boolean | undefined;
  /** The round expired unanswered. */
  expire(round: HeldRound): void;
  /** Gives another request what follows; absent while the asking request is open. */
  carryBy?(exchange: Exchange): Promise<ResultObject>;
}

/** Who asks, as the person is shown it. */
export function aboutOf({ params, client, server }: Exchange): QuestionRound['about'] {
  const tool = typeof params.name === 'string' ? params.name : undefined;
  return { tool, server, client: client.info.title ?? client.info.name };
}

/** Why a handle no longer works. */
export interface EndedRound {
  how: 'answered' | 'expired';
  isSent: boolean;
}

const MAX_ENDED = 1000;
/** The prefix of every handle. */
const HANDLE = 'ask_';

export class HeldRounds {
  readonly #clock: Clock;
  readonly #mark: string;
  readonly #limits: Limits;
  readonly #rounds: OwnedTable<HeldRound, EndedRound>;
  readonly #watchers = new Set<() => void>();

  /** `mark`: what handles end in. */
  constructor(limits: Limits, clock: Clock, mark = '') {
    this.#limits = limits;
    this.#clock = clock;
    this.#mark = mark;
    this.#rounds = new MemoryOwnedTable({
      clock,
      max: limits.maxParked,
      lifeMs: limits.parkedMs,
      toFull: tooMany,
      onExpired(round) {
        const ended = toEnded(round, round.isWithdrawn ? 'expired' : undefined);
        // A call whose question was withdrawn has moved on, and may ask again.
        if (!round.isWithdrawn) giveUp(round);
        return ended;
      },
      tombstones: { max: MAX_ENDED },
    });
  }

  get size(): number {
    return this.#rounds.size;
  }

  /**
   * Throws TOO_MANY if the principal has too many open questions. With `waitsFor`, nothing is asked; it says what the
   * call waits for.
   */
  open(call: AskingCall, questions: readonly RoundQuestion[], waitsFor?: string): HeldRound {
    // The question may expire sooner; then the call moves on, and the handle leads to what follows.
    const waitsMs = Math.min(this.#limits.parkedMs, ...questions.map(({ ask }) => ask.waitsMs ?? Infinity));
    const expiresAt = this.#clock.now() + waitsMs;
    const handle = randomId(HANDLE) + this.#mark;
    const round = new HeldRound(call, questions, { handle, since: this.#clock.now(), expiresAt });
    round.waitsFor = waitsFor;
    round.onEnd = () => this.#tell();
    this.#rounds.add(round.handle, round, { owner: round.principal });
    this.#tell();
    return round;
  }

  /** Calls back whenever a question was asked or needs no answer any more; returns a function that ends this. */
  watch(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => void this.#watchers.delete(callback);
  }

  #tell(): void {
    for (const callback of this.#watchers) callback();
  }

  /** Restarts the expiry, because someone has looked at it. */
  renew(round: HeldRound): void {
    this.#rounds.renew(round.handle);
  }

  /** For the page, which identifies the person by the link. */
  get(handle: string): QuestionRound | undefined {
    return this.#rounds.peek(handle);
  }

  get all(): Iterable<QuestionRound> {
    return this.#rounds.values();
  }

  find(handle: unknown, principal: string): HeldRound | undefined {
    return typeof handle === 'string' ? this.#rounds.get(handle, principal) : undefined;
  }

  /** Whether the handle is, or was, of a call that is held here. */
  knows(handle: unknown, principal: string): boolean {
    return this.find(handle, principal) !== undefined || this.whyNot(handle, principal) !== undefined;
  }

  hasAny(principal: string): boolean {
    return this.#rounds.of(principal).length > 0;
  }

  /** Uses up the handle: its holder gets what follows. */
  collect(round: HeldRound): void {
    this.#rounds.remove(round.handle, toEnded(round, 'answered'));
  }

  whyNot(handle: unknown, principal: string): EndedRound | undefined {
    return typeof handle === 'string' ? this.#rounds.tombstone(handle, principal) : undefined;
  }

  /** The client has left. */
  leave(client: ClientView): void {
    for (const round of this.#rounds.values()) if (round.call.client === client) this.#end(round);
  }

  /** The gateway is closing. */
  close(): void {
    for (const round of this.#rounds.values()) this.#end(round);
  }

  #end(round: HeldRound): void {
    if (this.#rounds.remove(round.handle, toEnded(round))) giveUp(round);
  }
}

export class HeldRound implements QuestionRound {
  readonly handle: string;
  readonly questions: readonly RoundQuestion[];
  readonly since: number;
  readonly expiresAt: number;
  readonly call: AskingCall;
  onEnd: (() => void) | undefined;
  /** What the call waits for, if the user can do nothing. */
  waitsFor: string | undefined;
  /** The number of invalid answers from the model. */
  attempts = 0;
  isOpen = true;
  /** The call no longer needs the answer. */
  isWithdrawn = false;
  #onAnswer: (() => void)[] = [];

  constructor(
    call: AskingCall,
    questions: readonly RoundQuestion[],
    { handle, since, expiresAt }: { handle: string; since: number; expiresAt: number },
  ) {
    this.handle = handle;
    this.call = call;
    this.questions = questions;
    this.since = since;
    this.expiresAt = expiresAt;
  }

  get principal(): string {
    return this.call.client.principal;
  }

  get user(): string | undefined {
    return userOf(this.call.client);
  }

  get isVouched(): boolean | undefined {
    return this.call.isVouched;
  }

  get about(): QuestionRound['about'] {
    return this.call.about;
  }

  answer(answers: Record<string, RoundAnswer>, by: AnsweredBy, who?: string): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.call.settle(answers, by, who);
    this.wake();
    return true;
  }

  withdraw(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.isWithdrawn = true;
    this.wake();
  }

  /** Makes all waiting requests check again. */
  wake(): void {
    for (const tell of this.#onAnswer.splice(0)) tell();
    this.onEnd?.();
  }

  /** Resolves when the round is answered or expired. */
  async answered(): Promise<void> {
    if (this.isOpen) await new Promise<void>((resolve) => this.#onAnswer.push(resolve));
  }
}

function toEnded({ isOpen, call }: HeldRound, how: EndedRound['how'] = isOpen ? 'expired' : 'answered'): EndedRound {
  return { how, isSent: call.isSent };
}

function giveUp(round: HeldRound): void {
  round.isOpen = false;
  round.wake();
  round.call.expire(round);
}

function tooMany(): GatewayError {
  return new GatewayError('TOO_MANY', { what: 'calls waiting for an answer', limit: 'maxParked' });
}

/** Whether the arguments name a handle of the form that we give out. */
export function hasHandle({ arguments: args }: JsonObject): boolean {
  return isObject(args) && typeof args.handle === 'string' && args.handle.startsWith(HANDLE);
}
