// Reads a large answer without parsing it: its id, and its result as bytes with the positions of its members. Anything
// unusual is left to `readMessage`, which also reports errors.
// 1. `readMessage` would accept the same bytes as the same message: they are valid UTF-8 and valid JSON. So a server's
//    mistake never becomes a broken line for a client.
// 2. The bytes contain no line end, so they fit into a line, an event or a frame.
// 3. No key of the message or the result occurs twice, because readers would disagree on which one counts.
import type { RequestId, ResultMessage } from '../../kernel/message.ts';
import { RawBytes } from '../../kernel/raw/raw-object.ts';
import type { RawMember } from '../../kernel/raw/raw-object.ts';
import { countLargeMessage } from '../../kernel/base/collector.ts';
import { isId } from './json-rpc.ts';
import type { ReadLimits, ShapeExcess } from './json-shape.ts';
import { skipString } from './string-skip.ts';

/** Below this size, parsing is cheaper. */
export const LARGE_BYTES = 16 * 1024;

/** Of a string: from here on, its rest is worth a program for long ones. */
const LONG_BYTES = 256;

/** Results have a few members; each costs an entry. */
const MAX_MEMBERS = 64;
/** An `import` would load all of `node:buffer`, with files and blobs. */
const { isUtf8 } = process.getBuiltinModule('node:buffer');

/** Undefined unless it is certainly an answer with an object as its result. `onExcess`: it has too much of something. */
export function readRaw(
  bytes: Buffer,
  { maxDepth, maxValues = Infinity }: ReadLimits,
  onExcess?: (excess: ShapeExcess) => void,
): ResultMessage | undefined {
  if (bytes[0] !== OPEN_BRACE || !isUtf8(bytes)) return undefined;
  countLargeMessage(bytes.length);
  const scan = new JsonScan(bytes);
  const spoken = new Map<string, string>();
  let result: RawBytes | undefined;
  const isWhole = scan.object((key) => {
    if (spoken.has(key) || spoken.size === MAX_MEMBERS) return false;
    const { at } = scan;
    spoken.set(key, '');
    if (key === 'result') return (result = readObject(scan, maxDepth - 1)) !== undefined;
    if (!scan.value(maxDepth - 1)) return false;
    if (key === 'id' || key === 'jsonrpc') spoken.set(key, bytes.toString('utf8', at, scan.at));
    return true;
  });
  scan.skipSpace();
  const excess = scan.isTooDeep ? 'depth' : scan.values > maxValues ? 'values' : undefined;
  if (excess) onExcess?.(excess);
  if (excess || !isWhole || !scan.isAtEnd) return undefined;
  if (!result || spoken.has('method') || spoken.has('error')) return undefined;
  const id = toId(spoken.get('id'));
  return id === undefined || spoken.get('jsonrpc') !== '"2.0"' ? undefined : { jsonrpc: '2.0', id, result };
}

function readObject(scan: JsonScan, maxDepth: number): RawBytes | undefined {
  if (maxDepth < 1) return undefined;
  const { bytes, at: start } = scan;
  const members = new Map<string, RawMember>();
  const isWhole = scan.object((key, keyAt) => {
    if (members.has(key) || members.size === MAX_MEMBERS) return false;
    const valueAt = scan.at - keyAt;
    if (!scan.value(maxDepth - 1)) return false;
    members.set(key, { bytes: bytes.subarray(keyAt, scan.at), valueAt });
    return true;
  });
  return isWhole ? new RawBytes(members, bytes.subarray(start, scan.at)) : undefined;
}

function toId(text: string | undefined): RequestId | undefined {
  const id: unknown = text && JSON.parse(text);
  // A number in an unusual form must be kept as sent, which `readMessage` does.
  return text && isId(id) && (typeof id === 'string' || String(id) === text) ? id : undefined;
}

const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const [DIGITS, HEX, ESCAPED] = ['0123456789', '0123456789abcdefABCDEF', '"\\/bfnrt'].map(bytesIn) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const [TRUE, FALSE, NULL] = ['true', 'false', 'null'].map((word) => Buffer.from(word)) as [Buffer, Buffer, Buffer];
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/**
 * Finds where values end in JSON bytes, and that they are valid. Far cheaper than parsing, because nothing is allocated and long strings are
 * skipped four bytes at a time.
 * 1. It accepts less than JSON.parse and never more: it stops at line ends between values, at deep nesting and at invalid JSON.
 * 2. UTF-8 is not checked.
 * 3. Nothing recurses, so nesting cannot overflow the stack.
 */
export class JsonScan {
  readonly bytes: Buffer;
  /** The position. Undefined after a method returned false. */
  at = 0;
  /** Members and items so far, in all. */
  values = 0;
  /** It stopped at a level too many. */
  isTooDeep = false;
  /** The bytes as aligned 32-bit words, without those before the first one. */
  readonly #words: Int32Array;
  readonly #bytesBeforeWords: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    const before = (4 - (bytes.byteOffset & 3)) & 3;
    const count = (bytes.length - before) >> 2;
    this.#words = count > 0 ? new Int32Array(bytes.buffer, bytes.byteOffset + before, count) : new Int32Array(0);
    this.#bytesBeforeWords = before;
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
    this.at = this.#stringEnd(this.at + 1);
    return this.at !== -1;
  }

  /** The position after the closing quote of the string that begins here; -1 if it is invalid. */
  #stringEnd(from: number): number {
    const { bytes } = this;
    const words = this.#words;
    const shift = this.#bytesBeforeWords;
    let at = from;
    let longFrom = from + LONG_BYTES;
    for (;;) {
      if (at >= longFrom) {
        at = skipString(bytes, at);
        longFrom = at + LONG_BYTES;
      }
      if (((at - shift) & 3) === 0) at = skipPlain(words, (at - shift) >> 2) + shift;
      if (at >= bytes.length) return -1;
      const byte = bytes[at++]!;
      if (byte === QUOTE) return at;
      if (byte < SPACE) return -1;
      if (byte !== BACKSLASH) continue;
      const escaped = bytes[at++]!;
      if (ESCAPED[escaped] === 1) continue;
      if (escaped !== LOWER_U) return -1;
      for (const end = at + 4; at < end; at++) if (HEX[bytes[at]!] !== 1) return -1;
    }
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

/**
 * Skips to the word with the next quote, backslash or control character. With each byte XOR 2, exactly the
 * quote and the control characters are below 33. The highest bit of each byte in `found` marks a hit; only the first
 * hit is reliable.
 */
function skipPlain(words: Int32Array, from: number): number {
  for (let index = from; index < words.length; index++) {
    const word = words[index]!;
    const low = word ^ 0x02020202;
    const slash = word ^ 0x5c5c5c5c;
    const found = (((low - 0x21212121) & ~low) | ((slash - 0x01010101) & ~slash)) & 0x80808080;
    if (found !== 0) return (index << 2) + (IS_LITTLE ? (31 - Math.clz32(found & -found)) >> 3 : 0);
  }
  return Math.max(from, words.length) << 2;
}

function bytesIn(text: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(text)) table[byte] = 1;
  return table;
}
