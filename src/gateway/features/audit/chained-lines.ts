// The lines of the audit log on their way to the file, as bytes in buffers that are used again. As texts, hundreds of lines that wait would outlive a
// young collection, and all of them joined would be copied twice more.
import { lazyCrypto } from '../../../kernel/crypto/lazy-crypto.ts';

/** Holds the lines of one write, as far as peers have not made them long. */
const USUAL_BYTES = 128 * 1024;
/** Of a character in UTF-8, for each unit of UTF-16. */
const MAX_UNIT_BYTES = 3;
const LINE_END = 0x0a;

/** Texts as UTF-8, one behind the other. */
class TextBytes {
  #bytes: Buffer = Buffer.alloc(0);
  length = 0;

  add(text: string): void {
    this.#makeRoom(text.length * MAX_UNIT_BYTES);
    this.length += this.#bytes.write(text, this.length);
  }

  addPart(of: TextBytes, from: number, to: number): void {
    this.#makeRoom(to - from);
    this.length += of.#bytes.copy(this.#bytes, this.length, from, to);
  }

  endLine(): void {
    this.#makeRoom(1);
    this.#bytes[this.length++] = LINE_END;
  }

  /** Only until something is added. */
  part(from: number, to: number): Buffer {
    return this.#bytes.subarray(from, to);
  }

  clear(): void {
    this.length = 0;
    if (this.#bytes.length > USUAL_BYTES) this.#bytes = Buffer.alloc(0);
  }

  #makeRoom(size: number): void {
    const needed = this.length + size;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(USUAL_BYTES, needed * 2));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
}

/** What lines say and when it was, until their place in the chain is known. */
export class WaitingBodies {
  readonly #bytes = new TextBytes();
  /** Of each body; those behind `count` are of earlier ones. */
  readonly #times: number[] = [];
  readonly #ends: number[] = [];
  count = 0;

  add(at: number, body: string): void {
    this.#bytes.add(body);
    this.#times[this.count] = at;
    this.#ends[this.count++] = this.#bytes.length;
  }

  clear(): void {
    this.#bytes.clear();
    this.count = 0;
  }

  /** Adds all of them to a chain, in their order, and waits for others. */
  moveTo(lines: ChainedLines): void {
    let from = 0;
    for (let index = 0; index < this.count; index++) {
      const to = this.#ends[index]!;
      lines.addPart(this.#times[index]!, this.#bytes, from, to);
      from = to;
    }
    this.clear();
  }
}

/** The next lines of a chain, each with the hash of the line before it. */
export class ChainedLines {
  readonly #bytes = new TextBytes();
  /** Of the next line. */
  seq = 0;
  prev = '';
  /** Of the last line, and of most that follow. */
  time = '';
  #at = Number.NaN;

  /** Forgets all lines, and begins behind the last one that is in a file. */
  begin(seq: number, prev: string): void {
    this.#bytes.clear();
    this.seq = seq;
    this.prev = prev;
  }

  /** `body` as `toBody` writes it. */
  add(at: number, body: string): void {
    const from = this.#open(at);
    this.#bytes.add(body);
    this.#close(from);
  }

  addPart(at: number, bodies: TextBytes, bodyFrom: number, bodyTo: number): void {
    const from = this.#open(at);
    this.#bytes.addPart(bodies, bodyFrom, bodyTo);
    this.#close(from);
  }

  /** All lines, with their ends; only until the next one begins. */
  get bytes(): Buffer {
    return this.#bytes.part(0, this.#bytes.length);
  }

  /** Returns where the line begins. */
  #open(at: number): number {
    if (at !== this.#at) this.time = new Date((this.#at = at)).toISOString();
    const from = this.#bytes.length;
    this.#bytes.add(`{"seq":${this.seq},"prev":"${this.prev}","time":"${this.time}",`);
    return from;
  }

  #close(from: number): void {
    this.prev = hashLine(this.#bytes.part(from, this.#bytes.length));
    this.#bytes.endLine();
    this.seq++;
  }
}

/** The hash of a line without its line end. */
export function hashLine(line: string | Buffer): string {
  return lazyCrypto().hash('sha256', line, 'base64url');
}
