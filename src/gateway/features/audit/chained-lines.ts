// The chain of the audit log. A line may hold the hash (`prev`) of all that stands before it, from the last line with such a hash on: so one hash is made for
// the lines of a write, and not for each of them, and still no line can be changed, removed or moved without breaking the chain. The last line of a
// write always holds one, so that only it stands unprotected until the next write.
// Lines wait as bytes in a buffer that is used again: as texts, hundreds of them would outlive a young collection.
import { lazyCrypto } from '../../../kernel/crypto/lazy-crypto.ts';

/** Holds the lines of one write, as far as peers have not made them long. */
const USUAL_BYTES = 128 * 1024;
/** Of a character in UTF-8, for each unit of UTF-16. */
const MAX_UNIT_BYTES = 3;
const LINE_END = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Lines that wait until they are written, numbered in their order. */
export class WaitingLines {
  #bytes: Buffer = NOTHING;
  #length = 0;
  /** Where the last line begins. */
  #last = 0;
  #at = Number.NaN;
  #time = '';
  /** The number of the first line. */
  #first = 0;
  count = 0;

  /** The number of the next line. */
  get seq(): number {
    return this.#first + this.count;
  }

  /** `body`: what the line says, as JSON without its opening brace. */
  add(at: number, body: string): void {
    if (at !== this.#at) this.#time = new Date((this.#at = at)).toISOString(); // as for most lines before it
    this.#put(`{"seq":${this.seq},"time":"${this.#time}",${body}`);
    this.count++;
  }

  /** Forgets all of them; the next one has this number. */
  clear(first: number): void {
    this.#first = first;
    this.#length = this.#last = this.count = 0;
    if (this.#bytes.length > USUAL_BYTES) this.#bytes = NOTHING;
  }

  /** Others were written before them: they get the numbers from this one on. */
  renumber(first: number): void {
    if (first === this.#first) return;
    const lines = this.bytes.toString().split('\n').slice(0, -1);
    this.clear(first);
    for (const line of lines) {
      this.#put(line.replace(/^\{"seq":\d+/, `{"seq":${this.seq}`));
      this.count++;
    }
  }

  /** The last line gets the hash of what stands before it, behind `link`. There must be one. Returns that line. */
  seal(link: ChainLink): Buffer {
    const prev = hashFrom(link, this.#bytes.subarray(0, this.#last));
    this.#length -= 2; // its closing brace and its end
    this.#write(`,"prev":"${prev}"}`);
    this.#endLine();
    return this.last;
  }

  /** The last line, without its end. */
  get last(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#last, this.#length - 1));
  }

  /** The hash of all of them behind `link`, for a line that follows. */
  hashFrom(link: ChainLink): string {
    return hashFrom(link, this.bytes);
  }

  /** All lines, with their ends; only until something is added. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #put(line: string): void {
    this.#last = this.#length;
    this.#write(line);
    this.#endLine();
  }

  #write(text: string): void {
    this.#makeRoom(text.length * MAX_UNIT_BYTES + 1);
    this.#length += this.#bytes.write(text, this.#length);
  }

  #endLine(): void {
    this.#bytes[this.#length++] = LINE_END;
  }

  #makeRoom(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(USUAL_BYTES, needed * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** The last line with a hash, without its end; undefined before the first line of a chain. */
export type ChainLink = Buffer | undefined;

/** The previous hash of the first line of a chain. */
export const FIRST = '';

/** The hash from a link to the end of the lines behind it. `lines`: with their ends. */
function hashFrom(link: ChainLink, lines: Buffer): string {
  if (!link) return FIRST;
  if (lines.length === 0) return hashLine(link);
  const hash = lazyCrypto().createHash('sha256').update(link).update('\n');
  return hash.update(lines.subarray(0, -1)).digest('base64url');
}

/** The hash of a line without its line end. */
export function hashLine(line: string | Buffer): string {
  return lazyCrypto().hash('sha256', line, 'base64url');
}

/** Follows a chain as it is read: what the next line with a hash must hold. */
export class ChainReader {
  #link: { update(text: string): unknown; copy(): { digest(as: 'base64url'): string } } | undefined;

  /** Whether a line with a hash was read. */
  get hasBegun(): boolean {
    return this.#link !== undefined;
  }

  /** Undefined before that. */
  get prev(): string | undefined {
    return this.#link?.copy().digest('base64url');
  }

  /** The next line, with a hash of its own or without. */
  take(line: string, hasHash: boolean): void {
    if (hasHash) this.#link = lazyCrypto().createHash('sha256').update(line);
    else this.#link?.update(`\n${line}`);
  }
}
