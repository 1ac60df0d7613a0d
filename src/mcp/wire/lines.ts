// Splits chunks into lines, for stdio.
// 1. The lines do not depend on how the bytes are split into chunks.
// 2. At most maxBytes of a line are held: a longer one is skipped, and reported once with its beginning and its end, where its id is.
//    One that is far longer may have no end; it is reported before.
// 3. The callbacks must not throw, or the rest of the chunk is lost.
import { endlessBytes } from '../../kernel/base/limits.ts';
import { ChunkBuffer } from './chunk-buffer.ts';
import { EDGE_CHARS } from './json-shape.ts';
import { LARGE_BYTES } from './raw-message.ts';

interface LineOptions {
  /** The largest line in bytes, without its LF. */
  maxBytes: number;
  onLine(line: string): void;
  /** Receives large lines as bytes; without it they arrive as text. */
  onBytes?(line: Buffer): void;
  onOversize(beginning: string, end: string): void;
  /** A line is far longer than the limit. */
  onEndless?(): void;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const BRACE = 0x7b;

/** A line that is too long: its beginning, and its end so far. */
interface SkippedLine {
  beginning: string;
  end: Buffer;
  bytes: number;
  isReported: boolean;
}

export class LineReader {
  readonly #options: LineOptions;
  readonly #held = new ChunkBuffer();
  /** How many were read. */
  lines = 0;
  #skipped: SkippedLine | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#endLine(chunk, start, end);
      start = end + 1;
      this.lines++;
    }
    if (start < chunk.length && this.#fits(chunk, start, chunk.length)) this.#held.append(chunk, start, chunk.length);
  }

  /** The bytes of the line that is arriving. */
  get heldBytes(): number {
    return this.#held.length;
  }

  /** Skips the line that is arriving, as if it were too long. */
  skipLine(): void {
    if (this.#held.length === 0) return;
    const bytes = this.#held.takeBytes();
    const [beginning, end] = [bytes.toString('utf8', 0, EDGE_CHARS), Buffer.from(bytes.subarray(-EDGE_CHARS))];
    this.#skipped = { beginning, end, bytes: bytes.length, isReported: false };
  }

  /** The stream has ended; text after the last newline is a line too. */
  end(): void {
    if (this.#held.length > 0) this.#deliverHeld();
    this.#endSkipped();
  }

  #endLine(chunk: Buffer, start: number, end: number): void {
    if (!this.#fits(chunk, start, end)) {
      this.#endSkipped();
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

  #fits(chunk: Buffer, start: number, end: number): boolean {
    const { maxBytes } = this.#options;
    if (!this.#skipped) {
      if (this.#held.length + end - start <= maxBytes) return true;
      this.#held.append(chunk, start, Math.min(end, start + EDGE_CHARS));
      const beginning = this.#held.takeBytes().toString('utf8', 0, EDGE_CHARS);
      this.#skipped = { beginning, end: Buffer.alloc(0), bytes: maxBytes, isReported: false };
    }
    this.#skip(this.#skipped, chunk.subarray(start, end));
    return false;
  }

  #skip(skipped: SkippedLine, bytes: Buffer): void {
    skipped.bytes += bytes.length;
    const joined = bytes.length >= EDGE_CHARS ? bytes : Buffer.concat([skipped.end, bytes]);
    skipped.end = Buffer.from(joined.subarray(-EDGE_CHARS));
    if (skipped.isReported || skipped.bytes <= endlessBytes(this.#options.maxBytes)) return;
    this.#reportSkipped(skipped);
    this.#options.onEndless?.();
  }

  #endSkipped(): void {
    const skipped = this.#skipped;
    this.#skipped = undefined;
    if (skipped && !skipped.isReported) this.#reportSkipped(skipped);
  }

  #reportSkipped(skipped: SkippedLine): void {
    skipped.isReported = true;
    this.#options.onOversize(skipped.beginning, skipped.end.toString());
  }

  #deliver(line: string): void {
    const text = line.charCodeAt(line.length - 1) === CR ? line.slice(0, -1) : line;
    const isBlank = text === '' || (text.charCodeAt(0) <= SPACE && text.trim() === '');
    if (!isBlank) this.#options.onLine(text);
  }
}
