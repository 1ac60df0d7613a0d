// A pair of connected transports within one process. Messages are serialized as on a real wire, so that a test sees what a peer would see.
// Like a socket, an open pair keeps the process alive; otherwise a test runner would end a test that only waits for a timer.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/**
 * Two ends of a wire in memory. Both are official SDK `Transport`s, for `connect`, for `connect(transport)` of a server, and for the
 * official SDK.
 *
 * @example
 * ```ts
 * import { connect, createServer } from 'mcp-parley';
 * import { memoryPair } from 'mcp-parley/testing';
 *
 * const [near, far] = memoryPair();
 * await createServer({ name: 'clock', version: '1.0.0' }).connect(far);
 * const client = await connect(near);
 * console.log(client.server.revision);
 * ```
 */
export function memoryPair(): [Transport, Transport] {
  const one = new MemoryEnd();
  const other = new MemoryEnd();
  one.peer = other;
  other.peer = one;
  return [one, other];
}

/** The longest delay of a timer. */
const FOREVER_MS = 2 ** 31 - 1;

class MemoryEnd implements Transport {
  declare onmessage?: Transport['onmessage'];
  declare onclose?: () => void;
  peer!: MemoryEnd;
  /** Messages that arrived before `start`. */
  readonly #early: string[] = [];
  #state: 'new' | 'open' | 'closed' = 'new';
  #alive: NodeJS.Timeout | undefined;

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('An end of a memory pair can be started once');
    this.#state = 'open';
    this.#alive = setInterval(() => {}, FOREVER_MS);
    for (const text of this.#early.splice(0)) this.#deliver(text);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#state !== 'open') throw new Error('The other side has closed the connection');
    const text = JSON.stringify(message);
    // Deliver after the sender's call has returned, as on a wire.
    queueMicrotask(() => this.peer.#deliver(text));
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearInterval(this.#alive);
    this.onclose?.();
    await this.peer.close();
  }

  #deliver(text: string): void {
    if (this.#state === 'new') this.#early.push(text);
    else if (this.#state === 'open') this.onmessage?.(JSON.parse(text) as JSONRPCMessage);
  }
}
