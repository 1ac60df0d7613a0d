// Wraps a target so that each exchange and each watching client can be observed.
import { TargetLayer } from '../../protocol/layer.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { Change, Handle, HandleResult, Target, Watcher } from '../../protocol/target.ts';

export class ObservedLayer extends TargetLayer {
  readonly #around: (exchange: Exchange, handle: Handle) => HandleResult;
  readonly #onWatch: ((watcher: Watcher) => () => void) | undefined;
  readonly #handle: Handle;

  /** `around` gets each exchange and its handler; `onWatch` gets each client that watches for changes. */
  constructor(
    target: Target,
    around: (exchange: Exchange, handle: Handle) => HandleResult,
    onWatch?: (watcher: Watcher) => () => void,
  ) {
    super(target);
    this.#around = around;
    this.#onWatch = onWatch;
    this.#handle = (exchange) => target.handle(exchange);
  }

  override handle(exchange: Exchange): HandleResult {
    return this.#around(exchange, this.#handle);
  }

  override watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const unwatch = this.target.watch(listener, watcher);
    const leave = watcher && this.#onWatch?.(watcher);
    return () => {
      unwatch();
      leave?.();
    };
  }
}

/** Reports the outcome without delaying it. `failed` and `ended` must not throw. */
export function tapOutcome(
  exchange: Exchange,
  handle: Handle,
  ended: (result: ResultObject) => void,
  failed: (thrown: unknown) => void,
): HandleResult {
  let answer: HandleResult;
  try {
    answer = handle(exchange);
  } catch (thrown) {
    failed(thrown);
    throw thrown;
  }
  if (answer instanceof Promise) answer.then(ended, failed);
  else ended(answer);
  return answer;
}
