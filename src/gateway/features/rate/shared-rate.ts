// One rate, counted by all gateways that share a state. A gateway draws a block of what the rate allows and counts on its own until that is used up,
// so that most calls wait for nothing.
// 1. All together are granted what the rate allows; what is left of a block can be used later, but not after the time of the rate.
// 2. While the state does not answer, a gateway uses up its block, and then counts for itself or refuses, as `whenDown` says.
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { RateLimiter } from '../../../kernel/base/rate.ts';
import type { Rate } from '../../../kernel/base/rate.ts';
import type { Draw, State } from '../../../kernel/state/state.ts';

/** Whether callers may go on while the state does not answer. */
export type WhenDown = 'allow' | 'deny';

interface SharedRateOptions {
  rate: Rate;
  /** Names the rate among all that share the state. */
  name: string;
  state: State;
  clock: Clock;
  whenDown: WhenDown;
}

interface Block {
  left: number;
  /** When what is left is not worth anything any more. */
  until: number;
  /** Nothing will be granted before. */
  closedUntil: number;
  waiting: number;
  drawing: Promise<unknown> | undefined;
}

const MAX_KEYS = 10_000;
/** How much of a rate a block is. */
const PARTS = 20;
/** After the state has failed, nobody waits for it for so long. */
const DOWN_MS = 1000;

export class SharedRate {
  readonly #options: SharedRateOptions;
  readonly #block: number;
  readonly #blocks = new BoundedMap<string, Block>(MAX_KEYS);
  /** Counts while the state is down. */
  readonly #alone: RateLimiter;
  #downUntil = -Infinity;

  constructor(options: SharedRateOptions) {
    this.#options = options;
    this.#block = Math.max(1, Math.floor(options.rate.count / PARTS));
    this.#alone = new RateLimiter(options.rate, options.clock);
  }

  /** How long this key has to wait; 0 if one can be counted; a promise if it has to be looked up, after which to ask again. Rejects if it is refused for the state. */
  waitMs(key: string): number | Promise<unknown> {
    const now = this.#now;
    const block = this.#blocks.getOrCreate(key, () => emptyBlock());
    if (block.left > 0 && now < block.until) return 0;
    if (now < block.closedUntil) return Math.ceil(block.closedUntil - now);
    block.waiting += 1;
    block.drawing ??= this.#draw(key, block).finally(() => {
      block.drawing = undefined;
      block.waiting = 0;
    });
    return block.drawing;
  }

  count(key: string): void {
    const block = this.#blocks.peek(key);
    if (block) block.left -= 1;
  }

  get #now(): number {
    return ticksOf(this.#options.clock);
  }

  async #draw(key: string, block: Block): Promise<void> {
    await Promise.resolve(); // those who come in the same turn wait, too
    const { rate } = this.#options;
    const { granted, waitMs } = await this.#drawn(key, Math.min(rate.count, Math.max(this.#block, block.waiting)));
    const now = this.#now;
    if (granted === 0) block.closedUntil = now + waitMs;
    else Object.assign(block, { left: granted, until: now + rate.perMs });
  }

  async #drawn(key: string, wanted: number): Promise<Draw> {
    const { state, name, rate, whenDown } = this.#options;
    if (this.#now < this.#downUntil && whenDown === 'allow') return this.#drawAlone(key);
    try {
      return await state.draw(`${name} ${key}`, rate, wanted);
    } catch (error) {
      this.#downUntil = this.#now + DOWN_MS;
      if (whenDown === 'deny') throw error;
      return this.#drawAlone(key);
    }
  }

  #drawAlone(key: string): Draw {
    const waitMs = this.#alone.take(key);
    return { granted: waitMs === 0 ? 1 : 0, waitMs };
  }
}

function emptyBlock(): Block {
  return { left: 0, until: -Infinity, closedUntil: -Infinity, waiting: 0, drawing: undefined };
}
