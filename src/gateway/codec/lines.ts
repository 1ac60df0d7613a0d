// Splits chunks into lines, for stdio.
// 1. The lines do not depend on how the bytes are split into chunks.
// 2. At most maxBytes of a line are held: a longer one is reported once and skipped.
// 3. The callbacks must not throw, or the rest of the chunk is lost.
import { ChunkBuffer } from './chunk-buffer.ts';
import { LARGE_BYTES } from './raw-message.ts';

export interface LineOptions {
  /** The largest line in bytes, without its LF. */
  maxBytes: number;
  onLine(line: string): void;
  /** Receives large lines as bytes; without it they arrive as text. */
  onBytes?(line: Buffer): void;
  onOversize(): void;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const BRACE = 0x7b;

export class LineReader {
  readonly #options: LineOptions;
  readonly #held = new ChunkBuffer();
  #isSkipping = false;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#endLine(chunk, start, end);
      start = end + 1;
    }
    if (start < chunk.length && this.#fits(chunk.length - start)) this.#held.append(chunk, start, chunk.length);
  }

  /** The stream has ended; text after the last newline is a line too. */
  end(): void {
    if (this.#held.length > 0) this.#deliverHeld();
    this.#isSkipping = false;
  }

  #endLine(chunk: Buffer, start: number, end: number): void {
    if (!this.#fits(end - start)) {
      this.#isSkipping = false;
    } else if (this.#held.length > 0) {
      this.#held.append(chunk, start, end);
      this.#deliverHeld();
    } else if (end - start < LARGE_BYTES || !this.#deliverBytes(chunk.subarray(start, end))) {
      this.#deliver(chunk.toString('utf8', start, end));
    }
  }

  #deliverHeld(): void {
    if (this.#held.length < LARGE_BYTES) return this.#deliver(this.#held.take());
    const bytes = this.#held.takeBytes();
    if (!this.#deliverBytes(bytes)) this.#deliver(bytes.toString());
  }

  /** False if the line must be delivered as text. */
  #deliverBytes(line: Buffer): boolean {
    if (!this.#options.onBytes || line[0] !== BRACE) return false;
    this.#options.onBytes(line.at(-1) === CR ? line.subarray(0, -1) : line);
    return true;
  }

  #fits(moreBytes: number): boolean {
    if (this.#isSkipping) return false;
    if (this.#held.length + moreBytes <= this.#options.maxBytes) return true;
    this.#isSkipping = true;
    this.#held.clear();
    this.#options.onOversize();
    return false;
  }

  #deliver(line: string): void {
    const text = line.charCodeAt(line.length - 1) === CR ? line.slice(0, -1) : line;
    const isBlank = text === '' || (text.charCodeAt(0) <= SPACE && text.trim() === '');
    if (!isBlank) this.#options.onLine(text);
  }
}
