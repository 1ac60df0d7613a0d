// Runs one step on one exchange and enforces the rules:
// 1. next() is called at most once and awaited; a repeating step may call it again when the previous call has ended.
// 2. The step returns an outcome.
// 3. After next() the step finds its own params and signal again, whatever inner steps did to them.
// 4. Each attempt of a repeating step has its own exchange; messages of a failed attempt are dropped.
import { isObject } from '../../../protocol/message.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { LookUp, Next, OriginOf, Outcome, Step } from '../../../protocol/step.ts';
import type { Abortable } from '../../../shared/cancellation.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { ChainExchange } from './chain-exchange.ts';
import { isOutcome } from './outcome.ts';
import { StepDeadline } from './deadline.ts';
import { misuseError, toStepError } from './step-error.ts';

export type ChainRunner = (exchange: ChainExchange) => Promise<Outcome>;

/** A step and the rest of the chain after it, for its exchanges and lookups. */
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
  return run.finish(returned);
}

class StepRun {
  readonly #place: StepPlace;
  readonly #exchange: ChainExchange;
  /** The values before the step ran. */
  readonly #params: JsonObject;
  readonly #ownCancellation: Abortable | undefined;
  #hasChanged = false;
  #running = false;
  #over = false;
  /** The step has returned, maybe only a promise. */
  isAway = false;
  /** The step returned exactly what next() gave. */
  #isPassed = false;
  #isTimed = false;
  #misuse: Error | undefined;
  /** The promise that next() returned. */
  #pending: Promise<Outcome> | undefined;

  constructor(place: StepPlace, exchange: ChainExchange) {
    this.#place = place;
    this.#exchange = exchange;
    this.#params = exchange.params;
    this.#ownCancellation = exchange.ownCancellation;
  }

  readonly next: Next = () => {
    const { repeats } = this.#place.step;
    if (this.#over || this.#running || (this.#pending && !repeats)) return refused(this.#refusal());
    const exchange = this.#exchange;
    const { params, ownCancellation } = exchange;
    this.#hasChanged = params !== this.#params || ownCancellation !== this.#ownCancellation;
    this.#running = true;
    // A chain replaced meanwhile handles the rest.
    const rest = repeats ? this.#attempt() : (exchange.again() ?? this.#place.rest(exchange));
    const isTimed = ownCancellation !== this.#ownCancellation && ownCancellation instanceof StepDeadline;
    const pending = isTimed ? this.#inTime(rest, ownCancellation) : rest;
    this.#pending = pending;
    if (this.isAway) this.#follow(pending);
    return pending;
  };

  readonly lookUp: LookUp = (method, params) => this.#place.lookUp(this.#exchange, method, params);

  /** The fast path: a step that only returns next() has kept all rules. */
  finish(returned: unknown): Promise<Outcome> {
    const pending = this.#pending;
    if (!pending || returned !== pending || this.#misuse) return this.#judge(returned);
    if (!this.#hasChanged) return pending;
    this.#isPassed = true;
    if (this.#isTimed) return pending;
    this.#running = false;
    return this.#give(pending);
  }

  /** Rejects when the step's deadline expires first. If the step returned this promise, its run ends with it. */
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

  #judge(returned: unknown): Promise<Outcome> {
    if (this.#pending) this.#follow(this.#pending);
    return this.#give(Promise.resolve(returned));
  }

  /** Checks what the step returned. */
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
    // Work that continues has to see the abort.
    if (!this.#running) exchange.ownCancellation = this.#ownCancellation;
  }

  /** A step that does not await next() gets an error; an unhandled rejection must not also end the process. */
  #follow(pending: Promise<Outcome>): void {
    const settled = (): void => {
      if (!this.#place.step.repeats) this.#running = false;
    };
    pending.then(settled, settled);
  }

  #misused(reason: string): GatewayError {
    const error = misuseError(this.#place.step.name, reason);
    this.#exchange.chain.onMisuse(error);
    return error;
  }

  /** The error that the step threw or passed on. */
  #failure(thrown: unknown, passedOn: JsonObject): Error {
    const { name, reword } = this.#place.step;
    const error =
      this.#misuse ?? toStepError(name, reword?.(thrown, passedOn, this.#params) ?? thrown, this.#exchange.id);
    if (error instanceof GatewayError && error.code === 'STEP_MISUSED') this.#exchange.chain.onMisuse(error);
    return error;
  }

  #refusal(): Error {
    if (this.#over) return this.#misused('called next() after it had answered');
    return (this.#misuse = this.#misused('called next() twice'));
  }

  async #attempt(): Promise<Outcome> {
    const attempt = new ChainExchange(this.#exchange, this.#exchange.chain);
    try {
      const outcome = await (attempt.again() ?? this.#place.rest(attempt));
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

/** Common mistakes: a forgotten return, and a configured function that makes a step but got no options. */
function whyNone(returned: unknown): string {
  if (isObject(returned) && typeof returned.handle === 'function')
    return 'returned a step: it is a function that makes one, so give it its options ({ "./its-file.ts": { … } }), or call it';
  return 'returned no outcome; write "return next()" or "return respond(…)"';
}
