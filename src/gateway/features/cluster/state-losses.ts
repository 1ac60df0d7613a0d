// Notices that the shared state has lost what was in it, or was away. For some seconds after that, what is missing in it proves nothing: each node
// writes again what it has.
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { State } from '../../../kernel/state/state.ts';

interface StateLossesParts {
  state: State;
  clock: Clock;
  log: Log;
}

/** A row that stays: if it is another one, all else is lost, too. */
const SET = 'cluster';
const KEY = 'store';
/** Until every node that lives has connected again and written what it has. */
const GRACE_MS = 4000;

export class StateLosses {
  readonly #parts: StateLossesParts;
  #id: string | undefined;
  #unsettledUntil = -Infinity;
  #looking: Promise<boolean> | undefined;

  constructor(parts: StateLossesParts) {
    this.#parts = parts;
  }

  get isSettled(): boolean {
    return ticksOf(this.#parts.clock) >= this.#unsettledUntil;
  }

  /** The state was away, so that rows may have expired whose owners live. */
  disturb(): void {
    this.#unsettledUntil = ticksOf(this.#parts.clock) + GRACE_MS;
  }

  /** Whether the state has lost rows since the last look. `isBehind`: that is known, but not whether it lost all. */
  look(isBehind = false): Promise<boolean> {
    if (isBehind && this.#looking) return this.#looking.then(() => this.#look(true));
    return (this.#looking ??= this.#look(isBehind).finally(() => (this.#looking = undefined)));
  }

  async #look(isBehind: boolean): Promise<boolean> {
    const before = this.#id;
    const now = (await this.#parts.state.get(SET, KEY))?.value;
    const isKnown = now !== undefined && (before === undefined || now === before);
    if (isKnown && !isBehind) {
      this.#id = now;
      return false;
    }
    this.disturb();
    this.#id = now ?? (await this.#write());
    if (before === undefined) return false;
    this.#parts.log.warn({}, isKnown ? 'store.behind' : 'store.emptied');
    return true;
  }

  async #write(): Promise<string | undefined> {
    const { state } = this.#parts;
    const id = randomId();
    if ((await state.put(SET, KEY, id, { version: 0 })) !== undefined) return id;
    return (await state.get(SET, KEY))?.value;
  }
}
