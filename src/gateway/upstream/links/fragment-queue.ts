// Sends large messages over a WebSocket in fragments, a few at a time: a socket says only when the last byte of a frame is taken, and until
// then a server that reads slowly looks like one that does not read. A small message is one frame.
import type { WebSocket } from 'ws';
import { MAX_IN_STREAM, toPieces } from '../../codec/write-batcher.ts';

interface Fragment {
  text: string;
  bytes: number;
  /** Called for the last fragment of a message. */
  onTaken: ((error?: Error) => void) | undefined;
}

export class FragmentQueue {
  readonly #socket: Pick<WebSocket, 'send' | 'bufferedAmount'>;
  readonly #onTaken: () => void;
  readonly #waiting: Fragment[] = [];
  #waitingBytes = 0;

  /** `onTaken`: the socket has taken something. */
  constructor(socket: Pick<WebSocket, 'send' | 'bufferedAmount'>, onTaken: () => void) {
    this.#socket = socket;
    this.#onTaken = onTaken;
  }

  /** The number of unsent bytes. */
  get length(): number {
    return this.#socket.bufferedAmount + this.#waitingBytes;
  }

  /** Resolves when the socket has taken the message. */
  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const pieces = text.length > MAX_IN_STREAM ? toPieces(text) : undefined;
      const last = pieces?.pop() ?? text;
      for (const piece of pieces ?? []) this.#add(piece, undefined);
      this.#add(last, (error) => (error ? reject(error) : resolve()));
      this.#put(MAX_IN_STREAM);
    });
  }

  /** Hands all to the socket, which is about to close, or refuses everything because it has closed. */
  flush(): void {
    this.#put(Infinity);
  }

  #add(text: string, onTaken: Fragment['onTaken']): void {
    const bytes = Buffer.byteLength(text);
    this.#waiting.push({ text, bytes, onTaken });
    this.#waitingBytes += bytes;
  }

  #put(most: number): void {
    while (this.#socket.bufferedAmount < most) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#waitingBytes -= next.bytes;
      this.#socket.send(next.text, { fin: next.onTaken !== undefined }, (error) => {
        next.onTaken?.(error);
        if (!error) this.#onTaken();
        this.#put(MAX_IN_STREAM);
      });
    }
  }
}
