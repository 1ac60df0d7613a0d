// The grant that goes with a forwarded request, and is all that the internal port accepts.
// 1. It is sealed, and holds for one node, one method and one path with its query, for ten seconds, and once.
// 2. It says who calls: that was found out where the request came in, and is not asked again.
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Hop } from '../../../kernel/base/http.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { isObject } from '../../../kernel/message.ts';

export const HOP_HEADER = 'parley-hop';

/** Of what a node asks for itself, and not for a client. */
const NODE_PRINCIPAL = 'node:';

export function toNodePrincipal(node: string): string {
  return NODE_PRINCIPAL + node;
}

export function nodeInPrincipal(principal: string | undefined): string | undefined {
  return principal?.startsWith(NODE_PRINCIPAL) ? principal.slice(NODE_PRINCIPAL.length) : undefined;
}

interface HopRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

export interface OpenedHop extends Hop {
  /** Where the client is. */
  readonly address?: string | undefined;
}

interface GrantedHop extends OpenedHop {
  /** The node that gets the request. */
  readonly to: string;
  /** Its clock minus ours. */
  readonly clockAhead: number;
}

const PURPOSE = 'hop';
const FORMAT = 1;
const LIFE_MS = 10_000;
/** Less, because clocks are compared now and then only. */
const SEALED_MS = 8000;
/** Longer than any header that Node accepts. */
const MAX_CHARS = 32 * 1024;

export class HopGrants {
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #self: string;
  readonly #used: UsedOnce;

  constructor(sealer: Sealer, clock: Clock, self: string) {
    this.#sealer = sealer;
    this.#clock = clock;
    this.#self = self;
    this.#used = new UsedOnce(clock);
  }

  seal(request: HopRequest, { to, clockAhead, principal, identity, resource, address }: GrantedHop): string {
    const { validity: _, ...who } = identity ?? {};
    const until = this.#clock.now() + clockAhead + SEALED_MS;
    const grant = { v: FORMAT, id: randomId(), to, until, principal, identity: identity && who, resource, address };
    return this.#sealer.seal(PURPOSE, bindingOf(request), grant);
  }

  /** Undefined, without a reason, for everything that is not a grant for exactly this. */
  open(request: HopRequest, sealed: unknown): OpenedHop | undefined {
    if (typeof sealed !== 'string' || sealed.length > MAX_CHARS) return undefined;
    const grant = this.#sealer.open(PURPOSE, bindingOf(request), sealed);
    if (!isObject(grant) || grant.v !== FORMAT || grant.to !== this.#self) return undefined;
    const left = Number(grant.until) - this.#clock.now();
    if (!(left > 0 && left <= LIFE_MS) || !this.#used.take(String(grant.id))) return undefined;
    const { principal, identity, resource, address } = grant as unknown as OpenedHop;
    return { principal, identity, resource, address };
  }
}

/** Which grants were used in the last ten seconds, and at most as long again. */
class UsedOnce {
  readonly #clock: Clock;
  #since: number;
  #now = new Set<string>();
  #before = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  take(id: string): boolean {
    const now = this.#clock.now();
    if (Math.abs(now - this.#since) >= LIFE_MS) [this.#since, this.#before, this.#now] = [now, this.#now, new Set()];
    if (this.#now.has(id) || this.#before.has(id)) return false;
    this.#now.add(id);
    return true;
  }
}

function bindingOf({ method, path }: HopRequest): string {
  return `${method} ${path}`;
}
