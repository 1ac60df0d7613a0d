// Two ends of a wire within one process: what one sends, the other gets. Every message is written and read as on a real wire,
// so that a test sees what a peer would see: nothing is shared, and what JSON cannot carry does not arrive.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** Either end is an official SDK `Transport`: for `connect`, for `connect(transport)` of a server, and for the official SDK. */
export function memoryPair(): [Transport, Transport] {
  const one = new MemoryEnd();
  const other = new MemoryEnd();
  one.peer = other;
  other.peer = one;
  return [one, other];
}

class MemoryEnd implements Transport {
  declare onmessage?: Transport['onmessage'];
  declare onclose?: () => void;
  peer!: MemoryEnd;
  /** What came before anybody listened. */
  readonly #early: string[] = [];
  #state: 'new' | 'open' | 'closed' = 'new';

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('An end of a memory pair can be started once');
    this.#state = 'open';
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
    this.onclose?.();
    await this.peer.close();
  }

  #deliver(text: string): void {
    if (this.#state === 'new') this.#early.push(text);
    else if (this.#state === 'open') this.onmessage?.(JSON.parse(text) as JSONRPCMessage);
  }
}
