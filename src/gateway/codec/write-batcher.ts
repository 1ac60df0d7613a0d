// Joins lines into one write, because a system call and waking the reader cost more than the rest of a small message.
// Lines from one event leave together; while other calls are open they leave at the end of the event-loop turn, since
// requests of many clients arrive as many events. Nothing is held beyond the turn, only a few lines are held, and the
// order stays. Large messages are written by themselves.
import type { Writable } from 'node:stream';
import { writeEncoded } from './json-rpc.ts';
import type { EncodedMessage } from './json-rpc.ts';

const MAX_HELD_CHARS = 16 * 1024;

interface Taking {
  promise: Promise<void>;
  resolve: () => void;
  reject: (reason: Error) => void;
}

export interface WriteBatcherOptions {
  /** The stream is full; more lines pile up until 'drain'. */
  onFull?: () => void;
  /** The error for senders when the pipe fails. May take a moment to find out. */
  toError?: (error: Error) => Promise<Error>;
}

export class WriteBatcher {
  readonly #stream: Writable;
  readonly #options: WriteBatcherOptions;
  /** The stream has taken a line whose sender waits for that. */
  onTaken: (() => void) | undefined;
  #held = '';
  #isDue = false;
  #taking: Taking | undefined;

  constructor(stream: Writable, options: WriteBatcherOptions = {}) {
    this.#stream = stream;
    this.#options = options;
  }

  /** The number of unsent bytes. */
  get length(): number {
    return this.#stream.writableLength + this.#held.length;
  }

  /** `others` says that more may follow in this turn. */
  write(written: EncodedMessage, others = false): void {
    if (typeof written !== 'string') return this.#writePieces(written);
    this.#held += written;
    if (this.#held.length > MAX_HELD_CHARS) return this.flush();
    if (this.#isDue) return;
    this.#isDue = true;
    if (others) setImmediate(this.#onDue);
    else process.nextTick(this.#onDue);
  }

  /**
   * The same; resolves when the pipe has taken the text, and rejects if it cannot. Lines that leave together share one
   * promise.
   */
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
      ? this.#stream.write(text, (error) => {
          if (error) return this.#refuse(taking, error);
          taking.resolve();
          this.onTaken?.();
        })
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
