// Two ends of a wire within one process: what one sends, the other gets. Every message is written and read as on a real wire,
// so that a test sees what a peer would see: nothing is shared, and what JSON cannot carry does not arrive. Like a socket, it keeps
// the process alive until it is closed: a test runner would otherwise end a test that waits for nothing but a timer of ours.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** Either end is an official SDK `Transport`: for `connect`, for `connect(transport)` of a server, and for the official SDK. */
export function memoryPair(): [Transport, Transport] {
  const one = new MemoryEnd();
  const other = new MemoryEnd();
  one.peer = other;
  other.peer = one;
  return [one, other];
}

/** The longest that a timer can wait. */
const FOREVER_MS = 2 ** 31 - 1;

class MemoryEnd implements Transport {
  declare onmessage?: Transport['onmessage'];
  declare onclose?: () => void;
  peer!: MemoryEnd;
  /** What came before anybody listened. */
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
    // Never within the sender's own call: no wire answers before a message is sent.
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
