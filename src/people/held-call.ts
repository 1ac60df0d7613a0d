// How a call asks people by rounds of questions: it is held until the answers come, or it waits for the page, which its client opens or the
// gateway tells the person about.
import type { Ask, ClientView, Exchange } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import type { ResultObject } from '../kernel/raw/raw-object.ts';
import { cancelledError } from '../kernel/base/cancelled-error.ts';
import { CLIENT_GONE } from '../kernel/base/cancellation.ts';
import type { Abortable } from '../kernel/base/cancellation.ts';
import { OpenQuestions, TOGETHER_MS } from '../kernel/containers/open-questions.ts';
import { toError } from '../kernel/base/errors.ts';
import type { AskChannels } from './ask-channels.ts';
import { aboutOf } from './held-rounds.ts';
import type { AskingCall, HeldRound } from './held-rounds.ts';
import type { RoundAnswer, AnsweredBy, RoundQuestion, QuestionRound } from './question-round.ts';

/** The call that is held: its request is answered, and a later one gets what follows. */
interface HoldableCall {
  readonly exchange: Exchange;
  readonly cancellation: Abortable;
  /** Its result, or its task, was sent. */
  readonly isOver: boolean;
  answerCarrier(next: Promise<ResultObject>): void;
  carryBy(exchange: Exchange): Promise<ResultObject>;
  callOff(reason?: unknown): void;
}

interface Open extends RoundQuestion {
  /** Set once the round was delivered. */
  round?: HeldRound | undefined;
}

/**
 * The request is answered with the round, once, and the answers may come from the page or the model. A server asks one question after the
 * other, so those that arrive together form one round.
 */
export class HeldCall implements AskingCall {
  readonly #call: HoldableCall;
  readonly #channels: AskChannels;
  readonly #open = new OpenQuestions<Open>({ onWithdrawn: ({ round }) => this.#withdraw(round) });
  #isScheduled = false;

  constructor(call: HoldableCall, channels: AskChannels) {
    this.#call = call;
    this.#channels = channels;
  }

  get exchange(): Exchange {
    return this.#call.exchange;
  }

  get client(): ClientView {
    return this.exchange.client;
  }

  get about(): QuestionRound['about'] {
    return aboutOf(this.exchange);
  }

  get isSent(): boolean {
    return this.exchange.server !== undefined;
  }

  ask(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const key = this.#open.toKey(ask.key, 'q');
    this.#schedule();
    return this.#open.open(key, { key, ask }, { asker: signal, call: this.#call.cancellation });
  }

  /** Clients wait about a minute, so a longer wait is reported as text. */
  wait(words: string, signal: AbortSignal): void {
    const { clock, limits } = this.#channels;
    const stop = clock.after(limits.pollMs, () => this.#deliverWait(words, signal));
    signal.addEventListener('abort', stop, { once: true });
  }

  settle(answers: Record<string, RoundAnswer>, by: AnsweredBy, who?: string): void {
    this.#channels.log.info({ exchange: this.exchange.id, by }, 'ask.answered');
    for (const [key, { ask }] of this.#open.entries()) {
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
      if (!answer) continue;
      this.#open.answer(key, { ...answer });
      ask.onAnswered?.(by, who);
    }
  }

  carryBy(exchange: Exchange): Promise<ResultObject> {
    return this.#call.carryBy(exchange);
  }

  /** A round that waits for other people can still be fetched. */
  expire({ waitsFor }: HeldRound): void {
    this.#call.callOff(waitsFor === undefined ? undefined : CLIENT_GONE);
    this.#open.refuseAll(cancelledError('gone'));
  }

  /** Closes the page; a request with the handle gets what followed. */
  #withdraw(round: HeldRound | undefined): void {
    for (const [, open] of this.#open.entries()) if (open.round === round) return;
    round?.withdraw();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#channels.clock.after(TOGETHER_MS, () => {
      this.#isScheduled = false;
      if (this.#open.size > 0) this.#deliverRound();
    });
  }

  #deliverRound(): void {
    const open = Array.from(this.#open.entries(), ([, one]) => one);
    const questions = open.map(({ key, ask }) => ({ key, ask }));
    try {
      const round = this.#channels.rounds.open(this, questions);
      for (const one of open) one.round = round;
      const { id, server } = this.exchange;
      this.#channels.log.info({ exchange: id, server, tool: this.about.tool, client: this.about.client }, 'ask.held');
      this.#channels.tellPerson(round);
      this.#call.answerCarrier(this.#channels.words(round));
    } catch (thrown) {
      this.#open.refuseAll(toError(thrown));
    }
  }

  #deliverWait(words: string, signal: AbortSignal): void {
    if (signal.aborted || this.#call.isOver || this.#open.size > 0) return; // a question is already delivered
    try {
      const round = this.#channels.rounds.open(this, [], words);
      signal.addEventListener('abort', () => round.withdraw(), { once: true });
      this.#call.answerCarrier(this.#channels.words(round));
    } catch (error) {
      this.#channels.log.debug({ exchange: this.exchange.id, error }, 'ask.not-held'); // the client then keeps waiting
    }
  }
}

/**
 * The call waits while its client opens the page, because it opens URLs but shows no forms. Its confirmation is not the answer; the page
 * brings it.
 */
