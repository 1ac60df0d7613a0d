// Ids of tasks as clients see them: sealed with their server and bound to the principal, so that any node finds the server
// again and nobody else can use them. What was issued here is remembered, to tell of changes by the same id.
import { isObject } from '../../protocol/message.ts';
import type { Sealer } from '../../shared/seal.ts';

const PURPOSE = 'task';
/** The oldest are forgotten first: of them nobody is told any more, but they can still be asked for. */
const MAX_ISSUED = 10_000;

interface Issued {
  publicId: string;
  principal: string;
}

export class TaskIds {
  readonly #sealer: Sealer;
  readonly #issued = new Map<string, Issued>();

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  publish(server: string, taskId: unknown, principal: string): string {
    const known = this.known(server, taskId);
    if (known?.principal === principal) return known.publicId;
    const publicId = this.#sealer.seal(PURPOSE, principal, { server, taskId });
    this.#issued.set(keyOf(server, taskId), { publicId, principal });
    const [oldest] = this.#issued.keys();
    if (this.#issued.size > MAX_ISSUED) this.#issued.delete(oldest!);
    return publicId;
  }

  known(server: string, taskId: unknown): Issued | undefined {
    return this.#issued.get(keyOf(server, taskId));
  }

  /** Undefined for what was not issued to this principal. */
  open(publicId: unknown, principal: string): { server: string; taskId: string } | undefined {
    const opened = typeof publicId === 'string' ? this.#sealer.open(PURPOSE, principal, publicId) : undefined;
    if (!isObject(opened)) return undefined;
    return { server: String(opened.server), taskId: String(opened.taskId) };
  }
}

function keyOf(server: string, taskId: unknown): string {
  return JSON.stringify([server, taskId]);
}
