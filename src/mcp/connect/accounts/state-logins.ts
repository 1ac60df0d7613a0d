// Logins in the state that gateways share, so that a person logs in once for all of them.
// 1. The gateway that renews tokens has a lease on the login. A refresh token may be spent only once, so its holder stops when the lease is not sure any
//    more, and nobody else gets it before it is known, or long past, that the answer has come: the lease outlives a request to a token endpoint.
// 2. New tokens are written until that has succeeded, also while the state does not answer: the old ones are of no use any more.
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';
import type { Lease, State } from '../../../kernel/state/state.ts';
import type { LoginRecord, LoginStore } from './login-store.ts';

interface StateLoginsOptions {
  state: State;
  /** Seals what is kept, if its keys outlive the process. A state in Redis seals everything anyway. */
  sealer?: Sealer | undefined;
  clock?: Clock | undefined;
}

const LOGINS = 'logins';
const ISSUERS = 'login-issuers';
/** Longer than a request to a token endpoint takes, and than a gateway may be paused in the middle of one. */
const LEASE_MS = 60_000;
/** How long a call waits for another gateway that renews the same login. */
const WAIT_MS = 30_000;
const LOOK_MS = 100;
/** How long new tokens are tried to be kept. */
const KEEP_MS = 50_000;

export function createStateLogins(options: StateLoginsOptions): LoginStore {
  return new StateLogins(options);
}

class StateLogins implements LoginStore {
  readonly #state: State;
  readonly #sealer: Sealer | undefined;
  readonly #clock: Clock;
  /** For these there was none, and nothing has changed since. */
  readonly #missing = new Set<string>();
  #changes = 0;
  /** One after the other, in this process. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor({ state, sealer, clock = systemClock }: StateLoginsOptions) {
    this.#state = state;
    this.#sealer = sealer?.durable ? sealer : undefined;
    this.#clock = clock;
    state.watch(LOGINS, () => {
      this.#changes++;
      this.#missing.clear();
    });
  }

  has(key: string): boolean {
    return !this.#missing.has(key);
  }

  async read(key: string): Promise<LoginRecord | undefined> {
    return (await this.#read(key)).record;
  }

  async write(key: string, next: LoginRecord, version: number): Promise<boolean> {
    const end = this.#clock.now() + KEEP_MS;
    for (;;) {
      try {
        const { record, at } = await this.#read(key);
        if (record && isSame(record, next)) return true; // of an earlier try that was thought to have failed
        if ((record?.version ?? 0) !== version) return false;
        if ((await this.#state.put(LOGINS, key, this.#seal(key, next), { version: at })) !== undefined) break;
      } catch (error) {
        if (this.#clock.now() > end) throw error;
        await this.#pause(5 * LOOK_MS);
      }
    }
    this.#missing.delete(key);
    return true;
  }

  remove(key: string): Promise<boolean> {
    return this.#state.remove(LOGINS, key);
  }

  async keys(): Promise<string[]> {
    return [...(await this.#state.list(LOGINS)).keys()];
  }

  async bindIssuer(key: string, issuer: string): Promise<string> {
    await this.#state.put(ISSUERS, key, issuer, { version: 0 });
    return (await this.#state.get(ISSUERS, key))?.value ?? issuer;
  }

  async unbindIssuer(key: string): Promise<void> {
    await this.#state.remove(ISSUERS, key);
  }

  exclusively<T>(key: string, work: (isSure: () => boolean) => Promise<T>): Promise<T> {
    const leased = (): Promise<T> => this.#leased(key, work);
    const done = (this.#queues.get(key) ?? Promise.resolve()).then(leased, leased);
    const settled = done.catch(() => {});
    this.#queues.set(key, settled);
    void settled.then(() => this.#queues.get(key) === settled && this.#queues.delete(key));
    return done;
  }

  async #leased<T>(key: string, work: (isSure: () => boolean) => Promise<T>): Promise<T> {
    const lease = await this.#takeLease(key);
    try {
      return await work(() => lease.isSure());
    } finally {
      // If this fails, it ends by itself.
      await lease.release().catch(() => {});
    }
  }

  async #takeLease(key: string): Promise<Lease> {
    const end = this.#clock.now() + WAIT_MS;
    for (;;) {
      const lease = await this.#state.lease(`login ${key}`, LEASE_MS);
      if (lease) return lease;
      if (this.#clock.now() > end) throw heldElsewhere();
      await this.#pause(LOOK_MS);
    }
  }

  /** `at`: the version that the state has. */
  async #read(key: string): Promise<{ record: LoginRecord | undefined; at: number }> {
    const before = this.#changes;
    const entry = await this.#state.get(LOGINS, key);
    const record = entry && this.#open(key, entry.value);
    // An answer from before a change may come after the news of it.
    if (!entry && this.#changes === before) this.#missing.add(key);
    for (const one of [record?.tokens?.access, record?.tokens?.refresh, record?.client.secret]) secrets.addPassing(one);
    return { record, at: entry?.version ?? 0 };
  }

  #seal(key: string, record: LoginRecord): string {
    return this.#sealer ? this.#sealer.seal('login', key, record) : JSON.stringify(record);
  }

  /** What other keys have sealed is as good as nothing: a new login replaces it. */
  #open(key: string, value: string): LoginRecord | undefined {
    if (!this.#sealer) return JSON.parse(value) as LoginRecord;
    return this.#sealer.open('login', key, value) as LoginRecord | undefined;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }
}

function isSame(one: LoginRecord, other: LoginRecord): boolean {
  return one.version === other.version && JSON.stringify(one) === JSON.stringify(other);
}

function heldElsewhere(): GatewayError {
  return new GatewayError('UPSTREAM_LOGIN_FAILED', {
    server: 'the server',
    reason: 'another gateway renews the login',
  });
}
