// Lines that are written together leave in one write: a system call, and waking who reads, cost more than all else that is done
// for a small message. What one event has led to leaves with it; while there are others under way it leaves at the end of this turn
// of the loop, since many clients' requests come as many events. Nothing is held beyond the turn, nor more than a few of them, and
// the order stays. What is large goes out by itself, in its pieces.
import type { Writable } from 'node:stream';
import { writeEncoded } from './encoded-message.ts';
import type { EncodedMessage } from './encoded-message.ts';

const MAX_HELD_CHARS = 16 * 1024;

interface Taking {
  promise: Promise<void>;
  resolve: () => void;
  reject: (reason: Error) => void;
}

export interface WriteBatcherOptions {
  /** The stream has no room left; what comes all the same piles up until its 'drain'. */
  onFull?: () => void;
  /** What those are told who wait for what the pipe cannot take. It may take a moment to find out. */
  toError?: (error: Error) => Promise<Error>;
}

export class WriteBatcher {
  readonly #stream: Writable;
  readonly #options: WriteBatcherOptions;
  #held = '';
  #isDue = false;
  #taking: Taking | undefined;

  constructor(stream: Writable, options: WriteBatcherOptions = {}) {
    this.#stream = stream;
    this.#options = options;
  }

  /** How much waits for the reader. */
  get length(): number {
    return this.#stream.writableLength + this.#held.length;
  }

  /** With `others` more may follow in this turn. */
  write(written: EncodedMessage, others = false): void {
    if (typeof written !== 'string') return this.#writePieces(written);
    this.#held += written;
    if (this.#held.length > MAX_HELD_CHARS) return this.flush();
    if (this.#isDue) return;
    this.#isDue = true;
    if (others) setImmediate(this.#onDue);
    else process.nextTick(this.#onDue);
  }

  /** The same, and settles when the pipe has taken it, or cannot. One promise for all that leave together. */
  send(text: string, others = false): Promise<void> {
    const { promise } = (this.#taking ??= toTaking());
    this.write(text, others);
    return promise;
  }

  flush(): void {
    const text = this.#held;
    if (text === '') return;
    this.#held = '';
    const taking = this.#taking;
    this.#taking = undefined;
    const hasRoom = taking
      ? this.#stream.write(text, (error) => (error ? this.#refuse(taking, error) : taking.resolve()))
      : this.#stream.write(text);
    if (!hasRoom) this.#options.onFull?.();
  }

  #refuse({ reject }: Taking, error: Error): void {
    const { toError } = this.#options;
    if (toError) void toError(error).then(reject);
    else reject(error);
  }

  #writePieces(pieces: Buffer[]): void {
    this.flush();
    if (!writeEncoded(this.#stream, pieces)) this.#options.onFull?.();
  }

  readonly #onDue = (): void => {
    this.#isDue = false;
    this.flush();
  };
}

function toTaking(): Taking {
  let [resolve, reject]: [Taking['resolve'], Taking['reject']] = [() => {}, () => {}];
  const promise = new Promise<void>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}
