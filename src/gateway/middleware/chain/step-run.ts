// One step's part in one exchange, and the rules for it:
// 1. next() is called at most once, and waited for; a step that may repeat calls it again only when the former call has ended.
// 2. What is returned is an outcome.
// 3. What a step has passed on, it finds again after next(): params and signal, whatever was done to them further in.
// 4. Every attempt of a step that may repeat has an exchange of its own: one that failed is not heard any more.
import { isObject } from '../../../protocol/message.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { LookUp, Next, OriginOf, Outcome, Step } from '../../../protocol/step.ts';
import type { Abortable } from '../../../shared/cancellation.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { ChainExchange } from './chain-exchange.ts';
import { isOutcome } from './outcome.ts';
import { StepDeadline } from './step-deadline.ts';
import { misuseError, toStepError } from './step-error.ts';

export type ChainRunner = (exchange: ChainExchange) => Promise<Outcome>;

/** A step in its place: what comes after it, for its exchanges and for what it looks up. */
export interface StepPlace {
  readonly step: Step;
  readonly rest: ChainRunner;
  lookUp(exchange: ChainExchange, method: string, params?: JsonObject): Promise<JsonObject>;
  readonly originOf: OriginOf;
}

export function runMiddlewareStep(place: StepPlace, exchange: ChainExchange): Promise<Outcome> {
  const run = new StepRun(place, exchange);
  exchange.step = place.step.name;
  let returned: unknown;
  try {
    returned = place.step.handle!(exchange, run.next, run.lookUp, place.originOf);
  } catch (thrown) {
    returned = Promise.reject(thrown);
  }
  run.isAway = true;
  return run.isPassing(returned) ? run.pass(returned) : run.judge(returned);
}

class StepRun {
  readonly #place: StepPlace;
  readonly #exchange: ChainExchange;
  /** As the step has found them. */
  readonly #params: JsonObject;
  readonly #ownCancellation: Abortable | undefined;
  #hasChanged = false;
  #running = false;
  #over = false;
  /** The step has returned, if only a promise. */
  isAway = false;
  /** What the step returned is what next() gave. */
  #isPassed = false;
  #isTimed = false;
  #misuse: Error | undefined;
  /** What next() has given, if it was called. */
  #pending: Promise<Outcome> | undefined;

  constructor(place: StepPlace, exchange: ChainExchange) {
    this.#place = place;
    this.#exchange = exchange;
    this.#params = exchange.params;
    this.#ownCancellation = exchange.ownCancellation;
  }

  readonly next: Next = () => {
    const refusal = this.#refuse();
    if (refusal) return refused(refusal);
    const { params, ownCancellation } = this.#exchange;
    this.#hasChanged = params !== this.#params || ownCancellation !== this.#ownCancellation;
    this.#running = true;
    const rest = this.#step.repeats ? this.#attempt() : this.#rest(this.#exchange);
    const isTimed = ownCancellation !== this.#ownCancellation && ownCancellation instanceof StepDeadline;
    const pending = isTimed ? this.#inTime(rest, ownCancellation) : rest;
    this.#pending = pending;
    if (this.isAway) this.#follow(pending);
    return pending;
  };

  readonly lookUp: LookUp = (method, params) => this.#place.lookUp(this.#exchange, method, params);

  /** A step that only lets pass has kept all rules: this is the shortest way. */
  isPassing(returned: unknown): returned is Promise<Outcome> {
    return returned !== undefined && returned === this.#pending && !this.#misuse;
  }

  pass(pending: Promise<Outcome>): Promise<Outcome> {
    if (!this.#hasChanged) return pending;
    this.#isPassed = true;
    if (this.#isTimed) return pending;
    this.#running = false;
    return this.#give(pending);
  }

  /** Ends with the deadline that the step has set, if that comes first. Where it is all that the step gives, the step ends with it. */
  #inTime(rest: Promise<Outcome>, deadline: StepDeadline): Promise<Outcome> {
    this.#isTimed = true;
    return new Promise((resolve, reject) => {
      const fail = (thrown: unknown): void => {
        if (!this.#over) reject(this.#isPassed ? this.#failed(thrown) : (thrown as Error));
      };
      deadline.onExpired = () => fail(deadline.toError());
      rest.then(
        (outcome) => {
          deadline.end();
          this.#running = false;
          if (this.#isPassed && !this.#over) this.#end();
          resolve(outcome);
        },
        (thrown: unknown) => {
          deadline.end();
          this.#running = false;
          fail(thrown);
        },
      );
    });
  }

  judge(returned: unknown): Promise<Outcome> {
    if (this.#pending) this.#follow(this.#pending);
    return this.#give(Promise.resolve(returned));
  }

  /** What came of it, by the rules. */
  #give(returned: Promise<unknown>): Promise<Outcome> {
    return returned.then(
      (outcome) => {
        this.#end();
        if (this.#misuse) throw this.#misuse;
        if (!isOutcome(outcome)) throw this.#misused(whyNone(outcome));
        if (this.#running) throw this.#misused('did not wait for next()');
        return outcome;
      },
      (thrown: unknown) => {
        throw this.#failed(thrown);
      },
    );
  }

  #failed(thrown: unknown): Error {
    const { params } = this.#exchange;
    this.#end();
    return this.#failure(thrown, params);
  }

  #end(): void {
    const exchange = this.#exchange;
    this.#over = true;
    exchange.params = this.#params;
    // What still works on it has to find that it was called off.
    if (!this.#running) exchange.ownCancellation = this.#ownCancellation;
  }

  /** Who does not wait for it is told so; that must not end the process as well. */
  #follow(pending: Promise<Outcome>): void {
    const settled = (): void => {
      if (!this.#step.repeats) this.#running = false;
    };
    pending.then(settled, settled);
  }

  get #step(): Step {
    return this.#place.step;
  }

  #misused(reason: string): GatewayError {
    const error = misuseError(this.#step.name, reason);
    this.#exchange.chain.onMisuse(error);
    return error;
  }

  /** What the step has thrown, or let pass. */
  #failure(thrown: unknown, passedOn: JsonObject): Error {
    const { name, reword } = this.#step;
    const error =
      this.#misuse ?? toStepError(name, reword?.(thrown, passedOn, this.#params) ?? thrown, this.#exchange.id);
    if (error instanceof GatewayError && error.code === 'STEP_MISUSED') this.#exchange.chain.onMisuse(error);
    return error;
  }

  #refuse(): Error | undefined {
    if (this.#over) return this.#misused('called next() after it had answered');
    if (!this.#running && (!this.#pending || this.#step.repeats)) return undefined;
    return (this.#misuse = this.#misused('called next() twice'));
  }

  /** It has ended before who waits for it goes on, and may try again. */
  #rest(exchange: ChainExchange): Promise<Outcome> {
    return exchange.again() ?? this.#place.rest(exchange);
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
    } finally {
      this.#running = false;
    }
  }
}

function refused(refusal: Error): Promise<never> {
  const promise = Promise.reject(refusal);
  promise.catch(ignore);
  return promise;
}

function ignore(): void {}

/** The usual mistakes: a forgotten return, and in a configuration a function that makes a step and got no options. */
function whyNone(returned: unknown): string {
  if (isObject(returned) && typeof returned.handle === 'function')
    return 'returned a step: it is a function that makes one, so give it its options ({ "./its-file.ts": { … } }), or call it';
  return 'returned no outcome; write "return next()" or "return respond(…)"';
}
