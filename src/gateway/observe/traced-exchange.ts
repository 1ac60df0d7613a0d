// An exchange with another trace context.
import { DelegatedExchange } from '../../protocol/delegated-exchange.ts';
import type { Exchange, TraceContext } from '../../protocol/exchange.ts';

export class TracedExchange extends DelegatedExchange {
  readonly #trace: TraceContext;

  constructor(inner: Exchange, trace: TraceContext) {
    super(inner);
    this.#trace = trace;
  }

  override get trace(): TraceContext {
    return this.#trace;
  }
}
