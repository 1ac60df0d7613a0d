// A deadline for the rest of the chain. A step sets it as `exchange.cancellation`; `next()` rejects when it expires
// (step-run.ts).
import type { StepExchange } from '../../../protocol/step.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { Deadline } from './deadline.ts';
import type { DeadlineOptions } from './deadline.ts';

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
