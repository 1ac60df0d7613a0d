// What the authorization server keeps, in the state that gateways share: a code of one gateway is taken at another, once, and all sign with the same keys.
// What strangers can make ends soon, so that they cannot fill it.
import type { Clock } from '../../../../kernel/base/clock.ts';
import { GatewayError } from '../../../../kernel/base/errors.ts';
import type { Sealer } from '../../../../kernel/crypto/seal.ts';
import type { State } from '../../../../kernel/state/state.ts';
import { freshFrontKeys } from './front-store.ts';
import type { FrontKeys, FrontStore, KeptRecord } from './front-store.ts';

const RECORDS = 'front';
const KEYS = 'front-keys';
const MAX_TRIES = 20;
const DAY_MS = 24 * 60 * 60_000;
/** As long as a client counts that somebody has agreed to and nobody uses. */
const UNUSED_MS = 90 * DAY_MS;
/** A client that nobody has agreed to. */
const STRANGER_MS = DAY_MS;
const AGREED = /^Agreed:/;
const STRANGE = /^Client:/;

export function createStateFrontStore(state: State, sealer: Sealer, clock: Clock): FrontStore {
  return new StateFrontStore(state, sealer, clock);
}

class StateFrontStore implements FrontStore {
  readonly #state: State;
  readonly #sealer: Sealer;
  readonly #clock: Clock;

  constructor(state: State, sealer: Sealer, clock: Clock) {
    this.#state = state;
    this.#sealer = sealer;
    this.#clock = clock;
  }

  async read(name: string): Promise<KeptRecord | undefined> {
    const entry = await this.#state.get(RECORDS, name);
    const row = entry && this.#open(name, entry.value);
    if (!row) return undefined;
    // Its use counts, once a month and a half.
    if (AGREED.test(name) && row.until - this.#clock.now() < UNUSED_MS / 2) await this.write(name, row.record);
    return row.record;
  }

  async write(name: string, record: KeptRecord): Promise<void> {
    const ttlMs = this.#ttlOf(name, record);
    const sealed = this.#sealer.seal(RECORDS, name, { record, until: this.#clock.now() + ttlMs });
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const version = (await this.#state.get(RECORDS, name))?.version ?? 0;
      if ((await this.#state.put(RECORDS, name, sealed, { version, ttlMs })) !== undefined) return;
    }
    throw new GatewayError('STATE_FAILED', {});
  }

  async remove(name: string): Promise<void> {
    await this.#state.remove(RECORDS, name);
  }

  /** Remembered for as long as what is used could be there. */
  async take(name: string): Promise<boolean> {
    const entry = await this.#state.get(RECORDS, name);
    const row = entry && this.#open(name, entry.value);
    const leftMs = row ? row.until - this.#clock.now() : UNUSED_MS;
    return this.#state.take(`front ${name}`, Math.max(leftMs, DAY_MS));
  }

  #ttlOf(name: string, { expires }: KeptRecord): number {
    const longest = STRANGE.test(name) ? STRANGER_MS : UNUSED_MS;
    return Math.max(1, Math.min(longest, (expires ?? Infinity) - this.#clock.now()));
  }

  #open(name: string, value: string): { record: KeptRecord; until: number } | undefined {
    return this.#sealer.open(RECORDS, name, value) as { record: KeptRecord; until: number } | undefined;
  }
}

/** The keys of all gateways that share the state, made by the first. If they are lost there, a gateway that has them writes them again. */
export async function sharedFrontKeys(state: State): Promise<FrontKeys> {
  const known = await state.get(KEYS, '');
  if (!known) await state.put(KEYS, '', JSON.stringify(await freshFrontKeys()), { version: 0 });
  const kept = known ?? (await state.get(KEYS, ''));
  if (!kept) throw new GatewayError('STATE_FAILED', {});
  state.watch(KEYS, () => void state.put(KEYS, '', kept.value, { version: 0 }).catch(() => {})); // it is told again
  return JSON.parse(kept.value) as FrontKeys;
}
