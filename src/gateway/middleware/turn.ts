// One step's part in one exchange, and the rules for it:
// 1. next() is called at most once, and waited for; a step that may repeat calls it again only when the former call has ended.
// 2. What is returned is an outcome.
// 3. What a step has passed on, it finds again after next(): params and signal, whatever was done to them further in.
// 4. Every attempt of a step that may repeat has an exchange of its own: one that failed is not heard any more.
import type { JsonObject } from '../../protocol/message.ts';
import type { LookUp, Next, Outcome, Step } from '../../protocol/step.ts';
import type { Abortable } from '../../shared/cancellation.ts';
import { GatewayError } from '../../shared/errors.ts';
import { ChainExchange } from './chain-exchange.ts';
import { isOutcome } from './outcome.ts';
import { misused, toStepError } from './step-error.ts';

export type Run = (exchange: ChainExchange) => Promise<Outcome>;

export function takeTurn(step: Step, exchange: ChainExchange, rest: Run, lookUp: LookUp): Promise<Outcome> {
  const turn = new Turn(step, exchange, rest);
  exchange.step = step.name;
  try {
    const returned = step.handle!(exchange, turn.next, lookUp);
    const { pending } = turn;
    // A step that only lets pass has kept all rules: this is the shortest way.
    if (pending && returned === pending && !turn.misuse) return pending;
    turn.mayBeIgnored(pending);
    turn.isAway = true;
    return judge(turn, returned);
  } catch (thrown) {
    turn.mayBeIgnored(turn.pending);
    turn.over = true;
    return Promise.reject(turn.failure(thrown));
  }
}

async function judge(turn: Turn, returned: unknown): Promise<Outcome> {
  let outcome: unknown;
  try {
    outcome = await returned;
  } catch (thrown) {
    throw turn.failure(thrown);
  } finally {
    turn.over = true;
  }
  if (turn.misuse) throw turn.misuse;
  if (!isOutcome(outcome)) throw turn.misused('returned no outcome; write "return next()" or "return respond(…)"');
  if (turn.running) throw turn.misused('did not wait for next()');
  return outcome;
}

class Turn {
  readonly #step: Step;
  readonly #exchange: ChainExchange;
  readonly #rest: Run;
  #called = false;
  running = false;
  over = false;
  /** The step has returned, if only a promise. */
  isAway = false;
  misuse: Error | undefined;
  /** What next() has given, if it was called. */
  pending: Promise<Outcome> | undefined;

  constructor(step: Step, exchange: ChainExchange, rest: Run) {
    this.#step = step;
    this.#exchange = exchange;
    this.#rest = rest;
  }

  readonly next: Next = () => {
    const outcome = this.#refuse() ?? this.#proceed();
    if (this.isAway || this.pending) this.mayBeIgnored(outcome);
    this.pending ??= outcome;
    return outcome;
  };

  /** Who does not wait for it is told so; that must not end the process as well. */
  mayBeIgnored(outcome: Promise<Outcome> | undefined): void {
    outcome?.catch(ignore);
  }

  misused(reason: string): GatewayError {
    const error = misused(this.#step.name, reason);
    this.#exchange.chain.onMisuse(error);
    return error;
  }

  /** What the step has thrown, or let pass. */
  failure(thrown: unknown): Error {
    const error = this.misuse ?? toStepError(this.#step.name, thrown);
    if (error instanceof GatewayError && error.code === 'STEP_MISUSED') this.#exchange.chain.onMisuse(error);
    return error;
  }

  #refuse(): Promise<never> | undefined {
    if (this.over) return Promise.reject(this.misused('called next() after it had answered'));
    if (!this.running && (!this.#called || this.#step.repeats)) return undefined;
    return Promise.reject((this.misuse = this.misused('called next() twice')));
  }

  #proceed(): Promise<Outcome> {
    const { params, ownCancellation } = this.#exchange;
    this.#called = this.running = true;
    return (this.#step.repeats ? this.#attempt() : this.#rest(this.#exchange)).then(
      (outcome) => {
        this.#restore(params, ownCancellation);
        return outcome;
      },
      (thrown: unknown) => {
        this.#restore(params, ownCancellation);
        throw thrown;
      },
    );
  }

  #restore(params: JsonObject, ownCancellation: Abortable | undefined): void {
    const exchange = this.#exchange;
    this.running = false;
    exchange.params = params;
    exchange.ownCancellation = ownCancellation;
    exchange.step = this.#step.name;
  }

  async #attempt(): Promise<Outcome> {
    const attempt = new ChainExchange(this.#exchange, this.#exchange.chain);
    try {
      const outcome = await this.#rest(attempt);
      if (attempt.failure) throw attempt.failure;
      return outcome;
    } catch (thrown) {
      attempt.silence();
      throw thrown;
    }
  }
}

function ignore(): void {}
