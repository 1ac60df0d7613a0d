// Wraps a target so that each exchange can be observed.
import { TargetLayer } from '../../protocol/target.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import type { Handle, HandleResult, Target } from '../../protocol/target.ts';

export class ObservedLayer extends TargetLayer {
  readonly #around: (exchange: Exchange, handle: Handle) => HandleResult;
  readonly #handle: Handle;

  /** `around` gets each exchange and its handler. */
  constructor(target: Target, around: (exchange: Exchange, handle: Handle) => HandleResult) {
    super(target);
    this.#around = around;
    this.#handle = (exchange) => target.handle(exchange);
  }

  override handle(exchange: Exchange): HandleResult {
    return this.#around(exchange, this.#handle);
  }
}
