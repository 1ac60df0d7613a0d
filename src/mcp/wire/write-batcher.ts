// Joins lines into one write, because a system call and waking the reader cost more than the rest of a small message.
// Lines from one event leave together; while other calls are open they leave at the end of the event-loop turn, since
// requests of many clients arrive as many events. Nothing is held beyond the turn, only a few lines are held, and the
// order stays. Large messages are written by themselves, in small pieces: Node confirms a write only after its last
// byte, so with one big write a slow reader would look like one that has stopped.
import type { Writable } from 'node:stream';
import { writeEncoded } from './json-rpc.ts';
import type { EncodedMessage } from './json-rpc.ts';

const MAX_HELD_CHARS = 16 * 1024;
/** Beyond this, what senders wait for waits here, in pieces of this size. */
export const MAX_IN_STREAM: number = 256 * 1024;

interface Taking {
  promise: Promise<void>;
  resolve: () => void;
  reject: (reason: Error) => void;
}

interface WriteBatcherOptions {
  /** The stream is full; more lines pile up until 'drain'. */
  onFull?: () => void;
  /** The error for senders when the pipe fails. May take a moment to find out. */
  toError?: (error: Error) => Promise<Error>;
}

export class WriteBatcher {
  readonly #stream: Writable;
  readonly #options: WriteBatcherOptions;
  /** The stream has accepted a line whose sender waits for that. */
  onTaken: (() => void) | undefined;
  #held = '';
  #isDue = false;
  #taking: Taking | undefined;
  /** Only the last piece of a batch settles the promise of its senders. */
  readonly #waiting: { text: string; taking: Taking | undefined }[] = [];
  #waitingChars = 0;

  constructor(stream: Writable, options: WriteBatcherOptions = {}) {
    this.#stream = stream;
    this.#options = options;
  }

  /** The number of unsent bytes. */
  get length(): number {
    return this.#stream.writableLength + this.#held.length + this.#waitingChars;
  }

  /** `others` says that more may follow in this turn. */
  write(written: EncodedMessage, others = false): void {
    if (typeof written !== 'string') return this.#writePieces(written);
    this.#held += written;
    if (this.#held.length > MAX_HELD_CHARS) return this.#leave();
    if (this.#isDue) return;
    this.#isDue = true;
    if (others) setImmediate(this.#leave);
    else process.nextTick(this.#leave);
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

  /** Hands all to the stream, which is about to end. */
  flush(): void {
    this.#leave();
    this.#putWaiting(Infinity);
  }

  readonly #leave = (): void => {
    this.#isDue = false;
    const text = this.#held;
    if (text === '') return;
    this.#held = '';
    const taking = this.#taking;
    this.#taking = undefined;
    if (!taking) return void (this.#stream.write(text) || this.#options.onFull?.());
    const mustWait = this.#waiting.length > 0 || this.#stream.writableLength + text.length > MAX_IN_STREAM;
    if (!mustWait) return this.#put(text, taking);
    this.#waitingChars += text.length;
    const pieces = toPieces(text);
    const last = pieces.length - 1;
    for (const [index, piece] of pieces.entries())
      this.#waiting.push({ text: piece, taking: index === last ? taking : undefined });
    this.#putWaiting(MAX_IN_STREAM);
  };

  #put(text: string, taking: Taking | undefined): void {
    const onWritten = (error?: Error | null): void => {
      if (taking && error) this.#refuse(taking, error);
      else taking?.resolve();
      if (this.#waiting.length > 0) this.#putWaiting(MAX_IN_STREAM);
      if (!error) this.onTaken?.();
    };
    if (!this.#stream.write(text, onWritten)) this.#options.onFull?.();
  }

  /** A stream that has failed refuses what it gets. */
  #putWaiting(most: number): void {
    while (this.#stream.writableLength < most) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#waitingChars -= next.text.length;
      this.#put(next.text, next.taking);
    }
  }

  #refuse({ reject }: Taking, error: Error): void {
    const { toError } = this.#options;
    if (toError) void toError(error).then(reject);
    else reject(error);
  }

  #writePieces(pieces: Buffer[]): void {
    this.#leave();
    if (!writeEncoded(this.#stream, pieces)) this.#options.onFull?.();
  }
}

/** The text in pieces of at most `MAX_IN_STREAM` characters. */
export function toPieces(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0, end = 0; from < text.length; from = end) {
    end = pieceEnd(text, from);
    pieces.push(text.slice(from, end));
  }
  return pieces;
}

/** Not between the halves of a character. */
function pieceEnd(text: string, from: number): number {
  const end = Math.min(from + MAX_IN_STREAM, text.length);
  const isWithin = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
  return isWithin ? end - 1 : end;
}

function toTaking(): Taking {
  let [resolve, reject]: [Taking['resolve'], Taking['reject']] = [() => {}, () => {}];
  const promise = new Promise<void>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}
