// Which sessions are open, by principal or share and by network, for the limits on their number.
import { networkOfShare } from '../../header.ts';
import type { Header } from '../../journal.ts';
import type { CreateResult, SessionLimits } from '../store.ts';

type Whose = Pick<Header, 'principal' | 'share'>;

export class SessionCounts {
  readonly #ids = new Map<string, Set<string>>();
  /** How many of them each network has. */
  readonly #networks = new Map<string, number>();
  #count = 0;

  /** The ids of a principal or share. */
  of(share: string): Iterable<string> {
    return this.#ids.get(share) ?? [];
  }

  /** Adds a session unless a limit is reached. */
  add(id: string, whose: Whose, limits: SessionLimits): Exclude<CreateResult, 'exists'> {
    const { share = whose.principal } = whose;
    const mine = this.#ids.get(share);
    if (this.#count >= limits.total || (mine?.size ?? 0) >= limits.perPrincipal) return 'limit';
    const network = networkOfShare(whose);
    if (network !== undefined) {
      const count = this.#networks.get(network) ?? 0;
      if (count >= (limits.perNetwork ?? Infinity)) return 'network';
      this.#networks.set(network, count + 1);
    }
    if (mine) mine.add(id);
    else this.#ids.set(share, new Set([id]));
    this.#count++;
    return 'ok';
  }

  delete(id: string, whose: Whose): void {
    const { share = whose.principal } = whose;
    const mine = this.#ids.get(share);
    mine?.delete(id);
    if (mine?.size === 0) this.#ids.delete(share);
    this.#count--;
    const network = networkOfShare(whose);
    if (network === undefined) return;
    const left = (this.#networks.get(network) ?? 1) - 1;
    if (left > 0) this.#networks.set(network, left);
    else this.#networks.delete(network);
  }

  clear(): void {
    this.#ids.clear();
    this.#networks.clear();
    this.#count = 0;
  }
}
