// Aborts a call when its time is up. Progress may restart the time, and it stops while the user is asked. Leaves no timer and no
// listener behind.
import type { Ask, Progress } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Hooks, StepExchange } from '../../kernel/step.ts';
import { callOff } from '../../kernel/base/clock.ts';
import type { DeadlineList, DeadlineNode } from '../../kernel/base/clock.ts';
import { ChildCancellation } from '../../kernel/base/cancellation.ts';
import type { Abortable } from '../../kernel/base/cancellation.ts';
import { GatewayError } from '../../kernel/base/errors.ts';

export interface DeadlineOptions {
  ms: number;
  /** Whether progress restarts the time. */
  extend: boolean;
  alarms: DeadlineList;
}

/** Aborts when the time is up, or with its parent. */
export class Deadline extends ChildCancellation implements Hooks, DeadlineNode {
  due = Infinity;
  before: DeadlineNode | undefined;
  after: DeadlineNode | undefined;
  readonly #options: DeadlineOptions;
  #pauses = 0;
  #over = false;
  /** Called when the time is up. */
  onExpired: (() => void) | undefined;

  constructor(options: DeadlineOptions, parent: Abortable) {
    super(parent);
    this.#options = options;
    this.#renew();
  }

  progress(progress: Progress, next: (progress: Progress) => void): void {
    if (this.#options.extend) this.#renew();
    next(progress);
  }

  async ask(ask: Ask, next: (ask: Ask) => Promise<JsonObject>): Promise<JsonObject> {
    this.#pauses++;
    callOff(this);
    try {
      return await next(ask);
    } finally {
      this.#pauses--;
      this.#renew();
    }
  }

  /** Resolves with the work if it ends in time. */
  race<T>(work: Promise<T>, toReason: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.onExpired = () => reject(toReason());
      work.then(
        (outcome) => {
          this.end();
          resolve(outcome);
        },
        (thrown: unknown) => {
          this.end();
          reject(thrown);
        },
      );
    });
  }

  /** The time is up. */
  ring(): void {
    this.end();
    this.onExpired?.();
    this.abort(new DOMException(`The ${this.#options.ms} ms are over`, 'TimeoutError'));
  }

  #renew(): void {
    if (this.#pauses === 0 && !this.#over) this.#options.alarms.set(this, this.#options.ms);
  }

  /** Call this when the deadline is no longer needed. */
  end(): void {
    this.#over = true;
    callOff(this);
    this.unfollow();
  }
}

/** For the rest of the chain: a step sets it as `exchange.cancellation`, and `next()` rejects when it expires (chain-run.ts). */
export class StepDeadline extends Deadline {
  readonly #exchange: StepExchange;
  readonly #ms: number;

  constructor(options: DeadlineOptions, exchange: StepExchange) {
    super(options, exchange.cancellation);
    this.#exchange = exchange;
    this.#ms = options.ms;
  }

  /** The error when the time is up. */
  toError(): GatewayError {
    const { server = 'The server', method } = this.#exchange;
    return new GatewayError('UPSTREAM_TIMEOUT', { server, method, ms: this.#ms, why: '' });
  }
}
