// Walks over JSON in bytes without making anything of it: where a value ends, and that it is one. Far cheaper than parsing,
// because long strings, which are nearly all of a large message, are crossed four bytes at a time.
// It accepts less than JSON.parse and never more: line ends between values, nesting beyond a bound, and of course whatever is
// no JSON make it stop. UTF-8 is not checked here. Nothing recurses, so nesting cannot overflow the stack.

const SPACE = 0x20;
const TAB = 0x09;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const UNICODE = 0x75;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

const ESCAPED = bytesIn('"\\/bfnrt');
const DIGITS = bytesIn('0123456789');
const HEX = bytesIn('0123456789abcdefABCDEF');
const LITERALS = ['true', 'false', 'null'].map((text) => Buffer.from(text));

export class JsonScan {
  readonly bytes: Buffer;
  /** The byte that is looked at next. After a `false` it stands anywhere. */
  at = 0;
  /** The same bytes in fours, from the first that is aligned. */
  readonly #words: Int32Array;
  readonly #shift: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#shift = (4 - (bytes.byteOffset & 3)) & 3;
    const words = Math.max(0, (bytes.length - this.#shift) >> 2);
    this.#words = words === 0 ? new Int32Array(0) : new Int32Array(bytes.buffer, bytes.byteOffset + this.#shift, words);
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  /** The byte at hand; 0 at the end, which no JSON has. */
  get byte(): number {
    return this.at < this.bytes.length ? this.bytes[this.at]! : 0;
  }

  skipSpace(): void {
    const { bytes } = this;
    let { at } = this;
    while (at < bytes.length && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
    this.at = at;
  }

  /** Crosses the object at hand. `onValue` is called in front of each value, and crosses it. */
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

  /** Crosses the value at hand, which holds at most so many levels of objects and arrays. */
  value(maxDepth: number): boolean {
    /** What has to be closed, innermost last. */
    const open: number[] = [];
    for (;;) {
      const { byte } = this;
      const close = byte === OPEN_BRACE ? CLOSE_BRACE : byte === OPEN_BRACKET ? CLOSE_BRACKET : 0;
      if (close === 0) {
        if (!this.#scalar(byte)) return false;
      } else {
        if (open.length === maxDepth) return false;
        open.push(close);
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

  /** Crosses the string at hand. */
  string(): boolean {
    const { bytes } = this;
    if (this.byte !== QUOTE) return false;
    let at = this.at + 1;
    for (;;) {
      at = this.#special(at);
      if (at >= bytes.length) return false;
      if (bytes[at] === QUOTE) break;
      if (bytes[at] !== BACKSLASH) return false;
      const escaped = bytes[at + 1]!;
      at += 2;
      if (ESCAPED[escaped] === 1) continue;
      if (escaped !== UNICODE) return false;
      for (const end = at + 4; at < end; at++) if (HEX[bytes[at]!] !== 1) return false;
    }
    this.at = at + 1;
    return true;
  }

  /** Behind a value: crosses what closes, up to the next value. */
  #closeAll(open: number[]): boolean {
    while (open.length > 0) {
      this.skipSpace();
      const close = open[open.length - 1]!;
      if (this.#take(COMMA)) {
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
    const literal = LITERALS.find((text) => text[0] === byte);
    if (!literal) return this.#number();
    const end = this.at + literal.length;
    const isWhole = end <= this.bytes.length && this.bytes.compare(literal, 0, literal.length, this.at, end) === 0;
    this.at = end;
    return isWhole;
  }

  /** A zero that leads other digits is no number: what follows it is found to be neither a comma nor a close. */
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

  /**
   * The next byte that means something within a string: a quote, a backslash, or one below the space, which may not be there.
   * Four at a time: with 2 flipped in each byte a quote is less than 33, as are all below the space, and no other.
   */
  #special(from: number): number {
    const { bytes } = this;
    const words = this.#words;
    const shift = this.#shift;
    let at = from;
    while (at < bytes.length) {
      if (((at - shift) & 3) === 0) {
        let index = (at - shift) >> 2;
        for (; index < words.length; index++) {
          const word = words[index]!;
          const low = word ^ 0x02020202;
          const slash = word ^ 0x5c5c5c5c;
          if ((((low - 0x21212121) & ~low) | ((slash - 0x01010101) & ~slash)) & 0x80808080) break;
        }
        at = Math.max(at, (index << 2) + shift);
        if (at >= bytes.length) break;
      }
      const byte = bytes[at]!;
      if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) return at;
      at++;
    }
    return bytes.length;
  }
}

function bytesIn(text: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(text)) table[byte] = 1;
  return table;
}
