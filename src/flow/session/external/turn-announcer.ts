// The next turn of a session that runs in this process. All current waiters get the same turn; later ones get the turn after it.
import { isEnded } from '../../header.ts';
import type { TurnHost } from '../turn/turn-input.ts';
import type { Turn } from '../turn/turn.ts';

export class NextValue<T> {
  #resolve: ((value: T) => void) | undefined;
  #promise: Promise<T> | undefined;

  /** Created for the first waiter, since most turns have no waiter. */
  get promise(): Promise<T> {
    return (this.#promise ??= new Promise((resolve) => (this.#resolve = resolve)));
  }

  tell(value: T): void {
    const resolve = this.#resolve;
    this.#promise = undefined;
    this.#resolve = undefined;
    resolve?.(value);
  }
}

/** After a turn that asks while steps run no request waits for the next one, so it is also announced to listeners. */
export class TurnAnnouncer {
  readonly #host: TurnHost;
  readonly #ahead = new NextValue<Turn>();
  #isAsking = false;

  constructor(host: TurnHost) {
    this.#host = host;
  }

  get next(): Promise<Turn> {
    return this.#ahead.promise;
  }

  tell(turn: Turn): void {
    this.#ahead.tell(turn);
    if (this.#isAsking) this.#host.onMoved(turn);
    this.#isAsking = turn.questions.length > 0 && !isEnded(turn.header);
  }
}
