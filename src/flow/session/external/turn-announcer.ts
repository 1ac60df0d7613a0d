// The next turn of a session that is at work here: everybody who waits for it is told the same one, and whoever comes later the one after it.
import { isEnded } from '../../store/store.ts';
import type { TurnInput } from '../turn/turn-input.ts';
import type { Turn } from '../turn/turn.ts';

export class NextValue<T> {
  #resolve: ((value: T) => void) | undefined;
  #promise: Promise<T> | undefined;

  /** Made for the first who waits: in most turns nobody does. */
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

/** A turn that asks while steps run is not the last: nobody waits for the one after it, and so it is told to those who listen. */
export class TurnAnnouncer {
  readonly #input: TurnInput;
  readonly #ahead = new NextValue<Turn>();
  #isAsking = false;

  constructor(input: TurnInput) {
    this.#input = input;
  }

  get next(): Promise<Turn> {
    return this.#ahead.promise;
  }

  tell(turn: Turn): void {
    this.#ahead.tell(turn);
    if (this.#isAsking) this.#input.onMoved?.(turn);
    this.#isAsking = turn.questions.length > 0 && !isEnded(turn.header);
  }
}
