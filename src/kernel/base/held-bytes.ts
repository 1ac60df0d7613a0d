// The byte budget of the process: what it holds for others, such as bodies that are arriving, messages that wait for a slow reader, and
// events that are kept. Each peer has its own limits, but many peers at their limits would fill the memory.
// 1. When more is held than allowed, the owner who holds most loses its largest holding that can be cut; others are not affected.
// 2. Small holdings are not counted: what is never large costs nothing here.

/** Up to this many bytes a holding is not counted. */
export const UNCOUNTED_BYTES: number = 16 * 1024;
/** While a message arrives it counts this often: its bytes, its text, and what is made of it. */
export const ARRIVING_COPIES = 3;

export interface HeldShareOptions {
  /** The principal, network address or server that makes it grow. */
  owner: string;
  /** The budget of the process: `limits.maxHeldBytes`. */
  maxBytes: number;
  /** Lets go of the bytes. Without it the holding counts, but only its owner's other holdings are cut. */
  cut?: (() => void) | undefined;
}

interface Owner {
  bytes: number;
  readonly holdings: Set<HeldShare>;
}

/** Those who hold something. */
const owners = new Map<string, Owner>();
let total = 0;

export class HeldShare {
  readonly #options: HeldShareOptions;
  #bytes = 0;
  #isCut = false;

  constructor(options: HeldShareOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get canBeCut(): boolean {
    return this.#options.cut !== undefined;
  }

  /** Says how much is held now. Returns false if it was cut, now or before. */
  set(bytes: number): boolean {
    if (this.#isCut) return false;
    const counted = bytes > UNCOUNTED_BYTES ? bytes : 0;
    const grows = counted > this.#bytes;
    if (counted !== this.#bytes) this.#count(counted);
    if (grows && total > this.#options.maxBytes) relieve(this, this.#options.maxBytes);
    return !this.#isCut;
  }

  release(): void {
    if (this.#bytes > 0) this.#count(0);
  }

  /** From now on it counts, and is not cut. */
  keep(): void {
    this.#options.cut = undefined;
  }

  cutOff(): void {
    this.#isCut = true;
    this.release();
    this.#options.cut?.();
  }

  #count(bytes: number): void {
    const { owner: name } = this.#options;
    const owner = owners.get(name) ?? { bytes: 0, holdings: new Set() };
    total += bytes - this.#bytes;
    owner.bytes += bytes - this.#bytes;
    this.#bytes = bytes;
    if (bytes > 0) owner.holdings.add(this);
    else owner.holdings.delete(this);
    if (owner.holdings.size > 0) owners.set(name, owner);
    else owners.delete(name);
  }
}

/** The bytes that this process holds. */
export function heldBytes(): number {
  return total;
}

function relieve(asking: HeldShare, maxBytes: number): void {
  for (;;) {
    if (heldBytes() <= maxBytes || asking.isCut) return;
    const victim = largestOf(greatestOwner()) ?? (asking.canBeCut ? asking : undefined);
    if (!victim) return;
    victim.cutOff();
  }
}

/** Of those who have something that can be cut. */
function greatestOwner(): Owner | undefined {
  let greatest: Owner | undefined;
  for (const owner of owners.values()) {
    if (owner.bytes > (greatest?.bytes ?? 0) && largestOf(owner)) greatest = owner;
  }
  return greatest;
}

function largestOf(owner: Owner | undefined): HeldShare | undefined {
  let largest: HeldShare | undefined;
  for (const one of owner?.holdings ?? []) if (one.canBeCut && one.bytes > (largest?.bytes ?? 0)) largest = one;
  return largest;
}
