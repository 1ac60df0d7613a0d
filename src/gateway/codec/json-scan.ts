// Scans JSON bytes without parsing: finds where a value ends and that it is valid. This is far cheaper, because nothing
// is allocated and long strings are skipped four bytes at a time (string-end.ts).
// 1. It accepts less than JSON.parse and never more: it stops at line ends between values, at deep nesting and at
//    invalid JSON.
// 2. UTF-8 is not checked.
// 3. Nothing recurses, so nesting cannot overflow the stack.
import { bytesIn, endOfString, toWordView } from './string-end.ts';
import type { WordView } from './string-end.ts';

const SPACE = 0x20;
const TAB = 0x09;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

const DIGITS = bytesIn('0123456789');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

export class JsonScan {
  readonly bytes: Buffer;
  /** The position. Undefined after a method returned false. */
  at = 0;
  /** Members and items so far, in all. */
  values = 0;
  /** It stopped at a level too many. */
  isTooDeep = false;
  readonly #words: WordView;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#words = toWordView(bytes);
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  /** The current byte; 0 at the end, which JSON never contains. */
  get byte(): number {
    return this.at < this.bytes.length ? this.bytes[this.at]! : 0;
  }

  skipSpace(): void {
    const { bytes } = this;
    let { at } = this;
    while (at < bytes.length && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
    this.at = at;
  }

  /** Skips the current object. `onValue` is called before each value and must skip it. */
  object(onValue: (key: string, keyAt: number) => boolean): boolean {
    if (!this.#take(OPEN_BRACE)) return false;
    this.skipSpace();
    if (this.#take(CLOSE_BRACE)) return true;
    do {
      this.skipSpace();
      const keyAt = this.at;
      if (!this.string()) return false;
      const key = JSON.parse(this.bytes.toString('utf8', keyAt, this.at)) as string;
      if (!this.#colon() || !onValue(key, keyAt)) return false;
      this.skipSpace();
    } while (this.#take(COMMA));
    return this.#take(CLOSE_BRACE);
  }

  /** Skips the current value, which may have at most this many levels of nesting. */
  value(maxDepth: number): boolean {
    /** The open brackets, innermost last. */
    const open: number[] = [];
    for (;;) {
      const { byte } = this;
      const close = byte === OPEN_BRACE ? CLOSE_BRACE : byte === OPEN_BRACKET ? CLOSE_BRACKET : 0;
      if (close === 0) {
        if (!this.#scalar(byte)) return false;
      } else {
        if (open.length === maxDepth) {
          this.isTooDeep = true;
          return false;
        }
        open.push(close);
        this.values++;
        this.at++;
        this.skipSpace();
        if (this.byte !== close) {
          if (close === CLOSE_BRACE && !this.#key()) return false;
          continue;
        }
      }
      if (!this.#closeAll(open)) return false;
      if (open.length === 0) return true;
    }
  }

  /** Skips the current string. */
  string(): boolean {
    if (this.byte !== QUOTE) return false;
    this.at = endOfString(this.#words, this.at + 1);
    return this.at !== -1;
  }

  /** After a value: skips closing brackets and commas up to the next value. */
  #closeAll(open: number[]): boolean {
    while (open.length > 0) {
      this.skipSpace();
      const close = open[open.length - 1]!;
      if (this.#take(COMMA)) {
        this.values++;
        this.skipSpace();
        return close === CLOSE_BRACKET || this.#key();
      }
      if (!this.#take(close)) return false;
      open.pop();
    }
    return true;
  }

  #key(): boolean {
    return this.string() && this.#colon();
  }

  #colon(): boolean {
    this.skipSpace();
    const found = this.#take(COLON);
    this.skipSpace();
    return found;
  }

  #scalar(byte: number): boolean {
    if (byte === QUOTE) return this.string();
    if (byte === TRUE[0]) return this.#literal(TRUE);
    if (byte === FALSE[0]) return this.#literal(FALSE);
    return byte === NULL[0] ? this.#literal(NULL) : this.#number();
  }

  #literal(text: Uint8Array): boolean {
    for (const byte of text) if (this.bytes[this.at++] !== byte) return false;
    return true;
  }

  /** A leading zero ends the number, and the digit after it fails as neither a comma nor a bracket. */
  #number(): boolean {
    if (this.byte === MINUS) this.at++;
    if (!this.#take(ZERO) && !this.#digits()) return false;
    if (this.#take(POINT) && !this.#digits()) return false;
    if (!this.#take(LOWER_E) && !this.#take(UPPER_E)) return true;
    if (this.byte === PLUS || this.byte === MINUS) this.at++;
    return this.#digits();
  }

  #digits(): boolean {
    const { bytes, at: start } = this;
    while (this.at < bytes.length && DIGITS[bytes[this.at]!] === 1) this.at++;
    return this.at > start;
  }

  #take(byte: number): boolean {
    if (this.byte !== byte) return false;
    this.at++;
    return true;
  }
}
