// Ids of tasks and of interactive sessions as clients see them: sealed with their server and bound to the principal, so that any
// node finds the server again and nobody else can use them. What was issued here is remembered, to tell of it by the same id.
// Two clients may have a process each of one server, which give the same ids: what is one's is never the other's.
import { isObject } from '../../protocol/message.ts';
import type { Sealer } from '../../shared/crypto/seal.ts';

/** The oldest are forgotten first: of tasks nobody is told any more then, but they can still be asked for. */
const MAX_ISSUED = 10_000;

export class PublicIds {
  readonly #sealer: Sealer;
  readonly #purpose: string;
  readonly #prefix: string;
  readonly #issued = new Map<string, string>();

  constructor(sealer: Sealer, purpose: 'task' | 'session') {
    this.#sealer = sealer;
    this.#purpose = purpose;
    this.#prefix = purpose === 'session' ? 'session_' : '';
  }

  publish(server: string, id: unknown, principal: string): string {
    const known = this.known(server, id, principal);
    if (known !== undefined) return known;
    const publicId = this.#prefix + this.#sealer.seal(this.#purpose, principal, { server, id });
    this.#issued.set(keyOf(server, id, principal), publicId);
    const [oldest] = this.#issued.keys();
    if (this.#issued.size > MAX_ISSUED) this.#issued.delete(oldest!);
    return publicId;
  }

  /** By which it was issued to this principal. */
  known(server: string, id: unknown, principal: string): string | undefined {
    return this.#issued.get(keyOf(server, id, principal));
  }

  /** Undefined for what was not issued to this principal. */
  open(publicId: unknown, principal: string): { server: string; id: string } | undefined {
    if (typeof publicId !== 'string' || !publicId.startsWith(this.#prefix)) return undefined;
    const opened = this.#sealer.open(this.#purpose, principal, publicId.slice(this.#prefix.length));
    if (!isObject(opened)) return undefined;
    return { server: String(opened.server), id: String(opened.id) };
  }
}

function keyOf(server: string, id: unknown, principal: string): string {
  return JSON.stringify([server, id, principal]);
}
