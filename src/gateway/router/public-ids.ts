// Ids of tasks and of interactive sessions as clients see them: sealed with their server and bound to the principal, so that any
// node finds the server again and nobody else can use them. What was issued here is remembered, to tell of it by the same id.
import { isObject } from '../../protocol/message.ts';
import type { Sealer } from '../../shared/seal.ts';

/** The oldest are forgotten first: of tasks nobody is told any more then, but they can still be asked for. */
const MAX_ISSUED = 10_000;

interface Issued {
  publicId: string;
  principal: string;
}

export class PublicIds {
  readonly #sealer: Sealer;
  readonly #purpose: string;
  readonly #prefix: string;
  readonly #issued = new Map<string, Issued>();

  constructor(sealer: Sealer, purpose: 'task' | 'session') {
    this.#sealer = sealer;
    this.#purpose = purpose;
    this.#prefix = purpose === 'session' ? 'session_' : '';
  }

  publish(server: string, id: unknown, principal: string): string {
    const known = this.known(server, id);
    if (known?.principal === principal) return known.publicId;
    const publicId = this.#prefix + this.#sealer.seal(this.#purpose, principal, { server, id });
    this.#issued.set(keyOf(server, id), { publicId, principal });
    const [oldest] = this.#issued.keys();
    if (this.#issued.size > MAX_ISSUED) this.#issued.delete(oldest!);
    return publicId;
  }

  known(server: string, id: unknown): Issued | undefined {
    return this.#issued.get(keyOf(server, id));
  }

  /** Undefined for what was not issued to this principal. */
  open(publicId: unknown, principal: string): { server: string; id: string } | undefined {
    if (typeof publicId !== 'string' || !publicId.startsWith(this.#prefix)) return undefined;
    const opened = this.#sealer.open(this.#purpose, principal, publicId.slice(this.#prefix.length));
    if (!isObject(opened)) return undefined;
    return { server: String(opened.server), id: String(opened.id) };
  }
}

function keyOf(server: string, id: unknown): string {
  return JSON.stringify([server, id]);
}
