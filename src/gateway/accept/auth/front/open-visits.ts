// The logins that were begun last, by network address. Everybody may begin one, and each is a record: an address that begins many loses its
// oldest ones, and when all together are too many, the address with most of them does. Those that are finished or over need not be removed
// here: they are the oldest, so they go first.
import { MAX_OPEN_VISITS } from '../../../../shared/limits.ts';

export class OpenVisits {
  readonly #limits: typeof MAX_OPEN_VISITS;
  /** Oldest first. */
  readonly #byAddress = new Map<string, Set<string>>();
  #count = 0;

  constructor(limits = MAX_OPEN_VISITS) {
    this.#limits = limits;
  }

  /** Returns the visit that has to make room, if one has to. */
  begin(address: string, id: string): string | undefined {
    const own = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, own.add(id));
    this.#count++;
    if (own.size > this.#limits.perAddress) return this.#drop(address);
    return this.#count > this.#limits.all ? this.#drop(this.#busiest()) : undefined;
  }

  #drop(address: string): string {
    const own = this.#byAddress.get(address)!;
    const [oldest] = own;
    own.delete(oldest!);
    this.#count--;
    if (own.size === 0) this.#byAddress.delete(address);
    return oldest!;
  }

  #busiest(): string {
    let [found, most] = ['', 0];
    for (const [address, { size }] of this.#byAddress) if (size > most) [found, most] = [address, size];
    return found;
  }
}
