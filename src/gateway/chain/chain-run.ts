// A call on its way through the steps of a chain. Runs each step and enforces the rules:
// 1. next() is called at most once and awaited; a repeating step may call it again when the previous call has ended.
// 2. The step returns an outcome.
// 3. After next() the step finds its own params and signal again, whatever inner steps did to them. The rest of the chain keeps what it was given, also
//    if it goes on after the step has given up on it.
// 4. Each attempt of a repeating step has its own run; messages of a failed attempt are dropped.
// One object runs all steps, because every call makes one: what it knows of a step is at the step's place. Where the rest may outlive a step, because that has
// set a signal of its own, the rest has a run of its own.
import { atOnce } from '../../kernel/base/stray-promises.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { OriginOf, Outcome, Step } from '../../kernel/step.ts';
import type { Abortable } from '../../kernel/base/cancellation.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { ChainExchange } from './chain-exchange.ts';
import { isOutcome } from './outcome.ts';
import { StepDeadline } from './deadline.ts';
import { misuseError, toStepError } from './step-error.ts';

/** Hands the call to the rest of the chain after a step. */
export type RestOfChain = (run: ChainRun) => Promise<Outcome>;

/** A step and the rest of the chain after it, for its exchanges and lookups. */
export interface StepPlace {
  readonly index: number;
  readonly step: Step;
  readonly rest: RestOfChain;
  lookUp(exchange: ChainExchange, method: string, params?: JsonObject): Promise<JsonObject>;
  readonly originOf: OriginOf;
}

// What has happened to a step, as bits.
/** It has called next(). */
const CALLED = 1;
/** What it called with next() has not ended. */
const RUNNING = 2;
/** It passed on other params or another cancellation than it found. */
const CHANGED = 4;
/** It passed on a deadline. */
const TIMED = 8;
/** It has returned, maybe only a promise. */
const AWAY = 16;
/** It returned exactly what next() gave. */
const PASSED = 32;
/** It has called next() twice. */
const MISUSED = 64;
/** It has answered. */
const OVER = 128;

export class ChainRun extends ChainExchange {
  /** What each step found before it ran. */
  readonly #params: JsonObject[] = [];
  readonly #cancellations: (Abortable | undefined)[] = [];
  readonly #bits: number[] = [];
  /** What next() returned last. */
  #latest: Promise<Outcome> | undefined;

  run(place: StepPlace): Promise<Outcome> {
    const { index, step, originOf } = place;
    this.#params[index] = this.params;
    this.#cancellations[index] = this.ownCancellation;
    this.#bits[index] = 0;
    this.step = step.name;
    let returned: unknown;
    try {
      returned = step.handle!(
        this,
        () => this.#next(place),
        (method, params) => place.lookUp(this, method, params),
        originOf,
      );
    } catch (thrown) {
      returned = Promise.reject(thrown);
    }
    this.#bits[index] |= AWAY;
    return this.#finish(place, returned);
  }

  #next(place: StepPlace): Promise<Outcome> {
    const { index, step, rest } = place;
    const bits = this.#bits[index]! & ~(CHANGED | TIMED);
    const refusing = step.repeats ? OVER | RUNNING : OVER | RUNNING | CALLED;
    if ((bits & refusing) !== 0) return refused(this.#refusal(place));
    const { ownCancellation } = this;
    const hasOwn = ownCancellation !== this.#cancellations[index];
    const isTimed = hasOwn && ownCancellation instanceof StepDeadline;
    const isChanged = hasOwn || this.params !== this.#params[index];
    this.#bits[index] = bits | CALLED | RUNNING | (isChanged ? CHANGED : 0) | (isTimed ? TIMED : 0);
    const run = hasOwn && !step.repeats ? this.#fork() : this;
    // A chain replaced meanwhile handles the rest.
    const answer = step.repeats ? this.#attempt(place) : (run.again() ?? rest(run));
    const pending = isTimed ? this.#inTime(place, { run, answer }, ownCancellation) : this.#checked(run, answer);
    this.#latest = pending;
    if ((bits & AWAY) !== 0) this.#follow(place, pending);
    return pending;
  }

  /** A run of the rest, with the params and the signal that the step has set. */
  #fork(): ChainRun {
    const run = new ChainRun(this, this.chain);
    run.ownCancellation = this.ownCancellation;
    return run;
  }

  /** Fails if a hook of the rest has failed; those of this run are checked at its end. */
  #checked(run: ChainRun, answer: Promise<Outcome>): Promise<Outcome> {
    if (run === this) return answer;
    return answer.then((outcome) => {
      if (run.failure) throw run.failure;
      return outcome;
    });
  }

  /** The fast path: a step that only returns next() has kept all rules. */
  #finish(place: StepPlace, returned: unknown): Promise<Outcome> {
    const bits = this.#bits[place.index]!;
    const pending = (bits & CALLED) === 0 ? undefined : this.#latest;
    if (!pending || returned !== pending || (bits & MISUSED) !== 0) {
      if (pending) this.#follow(place, pending);
      return this.#judge(place, Promise.resolve(returned));
    }
    if ((bits & CHANGED) === 0) return pending;
    this.#bits[place.index] = bits | PASSED;
    if ((bits & TIMED) !== 0) return pending;
    this.#ended(place);
    return this.#judge(place, pending);
  }

  /** Rejects when the step's deadline expires first. If the step returned this promise, its run ends with it. */
  #inTime(
    place: StepPlace,
    { run, answer }: { run: ChainRun; answer: Promise<Outcome> },
    deadline: StepDeadline,
  ): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const fail = (thrown: unknown): void => {
        if (this.#has(place, OVER)) return;
        reject(this.#has(place, PASSED) ? this.#failed(place, thrown) : (thrown as Error));
      };
      deadline.onExpired = () => fail(deadline.toError());
      answer.then(
        (outcome) => {
          deadline.end();
          this.#ended(place);
          if (run !== this && run.failure) return fail(run.failure);
          if (this.#has(place, PASSED) && !this.#has(place, OVER)) this.#end(place);
          resolve(outcome);
        },
        (thrown: unknown) => {
          deadline.end();
          this.#ended(place);
          fail(thrown);
        },
      );
    });
  }

  #has({ index }: StepPlace, bits: number): boolean {
    return (this.#bits[index]! & bits) !== 0;
  }

  /** What it called with next() has ended. */
  #ended({ index }: StepPlace): void {
    this.#bits[index]! &= ~RUNNING;
  }

  /** Checks what the step returned. */
  #judge(place: StepPlace, returned: Promise<unknown>): Promise<Outcome> {
    return returned.then(
      (outcome) => {
        this.#end(place);
        if (this.#has(place, MISUSED)) throw this.#misused(place, 'called next() twice');
        if (!isOutcome(outcome)) throw this.#misused(place, whyNone(outcome));
        if (this.#has(place, RUNNING)) throw this.#misused(place, 'did not wait for next()');
        return outcome;
      },
      (thrown: unknown) => {
        throw this.#failed(place, thrown);
      },
    );
  }

  #end(place: StepPlace): void {
    const { index } = place;
    this.#bits[index]! |= OVER;
    this.params = this.#params[index]!;
    this.ownCancellation = this.#cancellations[index];
  }

  /** A step that does not await next() gets an error; an unhandled rejection must not also end the process. */
  #follow(place: StepPlace, pending: Promise<Outcome>): void {
    const settled = (): void => {
      if (!place.step.repeats) this.#ended(place);
    };
    pending.then(settled, settled);
  }

  #misused({ step }: StepPlace, reason: string): GatewayError {
    const error = misuseError(step.name, reason);
    this.chain.onMisuse(error);
    return error;
  }

  /** Ends the run of the step. The error that it threw or passed on. */
  #failed(place: StepPlace, thrown: unknown): Error {
    const { params: passedOn } = this;
    const { name, reword } = place.step;
    this.#end(place);
    if (this.#has(place, MISUSED)) return this.#misused(place, 'called next() twice');
    const error = toStepError(
      name,
      atOnce(`reword of ${name}`, reword?.(thrown, passedOn, this.params)) ?? thrown,
      this.id,
    );
    if (error instanceof GatewayError && error.code === 'STEP_MISUSED') this.chain.onMisuse(error);
    return error;
  }

  #refusal(place: StepPlace): Error {
    if (this.#has(place, OVER)) return this.#misused(place, 'called next() after it had answered');
    this.#bits[place.index]! |= MISUSED;
    return this.#misused(place, 'called next() twice');
  }

  async #attempt(place: StepPlace): Promise<Outcome> {
    const attempt = this.#fork();
    try {
      const outcome = await (attempt.again() ?? place.rest(attempt));
      if (attempt.failure) throw attempt.failure;
      return outcome;
    } catch (thrown) {
      attempt.silence();
      throw thrown;
    } finally {
      this.#ended(place);
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
