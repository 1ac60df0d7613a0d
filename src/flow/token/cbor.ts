// The CBOR (RFC 8949) of tokens: JSON values, `undefined` and bytes, all of definite length. Strings with lone surrogates would not survive
// UTF-8, so they are encoded as tagged UTF-16 units; every JSON value comes back unchanged. Only sealed bytes are decoded, so invalid CBOR
// is a defect, and throws.

const UTF16_TAG = 70_016;

const UINT = 0;
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;

const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const UNDEFINED = 0xf7;
const HALF = 0xf9;
const SINGLE = 0xfa;
const DOUBLE = 0xfb;

const FIRST_BYTES = 512;
/** For texts up to this length a loop is faster than a call into Node. */
const SHORT = 32;

export function toCbor(value: unknown): Uint8Array {
  const writer = new Writer();
  writer.write(value);
  return writer.written;
}

export function fromCbor(bytes: Uint8Array): unknown {
  return new Reader(bytes).whole();
}

class Writer {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  write(value: unknown): void {
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#number(value);
    else if (value === undefined) this.#byte(UNDEFINED);
    else if (value === null) this.#byte(NULL);
    else if (typeof value === 'boolean') this.#byte(value ? TRUE : FALSE);
    else if (value instanceof Uint8Array) this.#blob(value);
    else if (Array.isArray(value)) {
      this.#head(ARRAY, value.length);
      for (let at = 0; at < value.length; at++) this.write(value[at]);
    } else if (typeof value === 'object') this.#map(value as Record<string, unknown>);
    else throw new TypeError(`a ${typeof value} in a token`);
  }

  /** Keeps the order of keys, because a body may iterate over them. */
  #map(object: Record<string, unknown>): void {
    const keys = Object.keys(object);
    this.#head(MAP, keys.length);
    for (const key of keys) {
      this.#text(key);
      this.write(object[key]);
    }
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value)) return value < 0 ? this.#head(NEGATIVE, -1 - value) : this.#head(UINT, value);
    const isSingle = Math.fround(value) === value;
    const at = this.#take(isSingle ? 5 : 9);
    this.#bytes[at] = isSingle ? SINGLE : DOUBLE;
    if (isSingle) this.#bytes.writeFloatBE(value, at + 1);
    else this.#bytes.writeDoubleBE(value, at + 1);
  }

  #text(text: string): void {
    if (text.length <= SHORT && this.#ascii(text)) return;
    if (isWellFormed(text)) {
      const length = Buffer.byteLength(text);
      this.#head(TEXT, length);
      const at = this.#take(length);
      this.#bytes.write(text, at);
      return;
    }
    this.#head(TAG, UTF16_TAG);
    this.#blob(Buffer.from(text, 'utf16le'));
  }

  /** False, without writing, if the text is not ASCII. */
  #ascii(text: string): boolean {
    const before = this.#at;
    this.#head(TEXT, text.length);
    const start = this.#take(text.length);
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit > 0x7f) {
        this.#at = before;
        return false;
      }
      this.#bytes[start + at] = unit;
    }
    return true;
  }

  #blob(blob: Uint8Array): void {
    this.#head(BYTES, blob.length);
    const at = this.#take(blob.length);
    this.#bytes.set(blob, at);
  }

  #byte(byte: number): void {
    const at = this.#take(1);
    this.#bytes[at] = byte;
  }

  /** Uses the shortest encoding. */
  #head(major: number, value: number): void {
    const first = major << 5;
    if (value < 24) return this.#byte(first | value);
    if (value < 0x100) {
      const at = this.#take(2);
      this.#bytes[at] = first | 24;
      this.#bytes[at + 1] = value;
    } else if (value < 0x1_0000) {
      const at = this.#take(3);
      this.#bytes[at] = first | 25;
      this.#bytes.writeUInt16BE(value, at + 1);
    } else if (value < 0x1_0000_0000) {
      const at = this.#take(5);
      this.#bytes[at] = first | 26;
      this.#bytes.writeUInt32BE(value, at + 1);
    } else {
      const at = this.#take(9);
      this.#bytes[at] = first | 27;
      this.#bytes.writeBigUInt64BE(BigInt(value), at + 1);
    }
  }

  /** Reserves bytes, and returns their position. */
  #take(count: number): number {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at));
      larger.set(this.#bytes.subarray(0, at));
      this.#bytes = larger;
    }
    return at;
  }
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  whole(): unknown {
    const value = this.#read();
    if (this.#at !== this.#bytes.length) throw new TypeError('a token with something after its end');
    return value;
  }

  #read(): unknown {
    const first = this.#byte();
    const major = first >> 5;
    if (major === 7) return this.#simple(first);
    const value = this.#value(first & 31);
    switch (major) {
      case UINT:
        return value;
      case NEGATIVE:
        return -1 - value;
      case BYTES:
        return this.#blob(value);
      case TEXT:
        return this.#text(value);
      case ARRAY:
        return this.#array(value);
      case MAP:
        return this.#map(value);
      default:
        return this.#tagged(value);
    }
  }

  /** A number, a length, or the number of a tag. */
  #value(info: number): number {
    if (info < 24) return info;
    if (info === 24) return this.#byte();
    const at = this.#at;
    this.#at += 2 ** (info - 24);
    switch (info) {
      case 25:
        return this.#bytes.readUInt16BE(at);
      case 26:
        return this.#bytes.readUInt32BE(at);
      case 27:
        return Number(this.#bytes.readBigUInt64BE(at));
      default:
        throw new TypeError('a length that is not there in a token');
    }
  }

  #simple(first: number): unknown {
    const at = this.#at;
    switch (first) {
      case FALSE:
        return false;
      case TRUE:
        return true;
      case NULL:
        return null;
      case UNDEFINED:
        return undefined;
      case HALF:
        this.#at += 2;
        return toHalf(this.#bytes.readUInt16BE(at));
      case SINGLE:
        this.#at += 4;
        return this.#bytes.readFloatBE(at);
      case DOUBLE:
        this.#at += 8;
        return this.#bytes.readDoubleBE(at);
      default:
        throw new TypeError(`an unknown value (${first}) in a token`);
    }
  }

  #array(length: number): unknown[] {
    const array: unknown[] = [];
    for (let at = 0; at < length; at++) array.push(this.#read());
    return array;
  }

  #map(length: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (let at = 0; at < length; at++) {
      const key = this.#read() as string;
      const value = this.#read();
      // An assignment would set the prototype.
      if (key === '__proto__') {
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      } else object[key] = value;
    }
    return object;
  }

  #tagged(tag: number): string {
    if (tag !== UTF16_TAG) throw new TypeError(`an unknown tag (${tag}) in a token`);
    return (this.#read() as Buffer).toString('utf16le');
  }

  #text(length: number): string {
    const at = this.#skip(length);
    return (length <= SHORT ? this.#ascii(at) : undefined) ?? this.#bytes.toString('utf8', at, this.#at);
  }

  /** Undefined if the text is not ASCII. */
  #ascii(from: number): string | undefined {
    let text = '';
    for (let at = from; at < this.#at; at++) {
      const unit = this.#bytes[at]!;
      if (unit > 0x7f) return undefined;
      text += String.fromCharCode(unit);
    }
    return text;
  }

  #blob(length: number): Buffer {
    const at = this.#skip(length);
    return this.#bytes.subarray(at, this.#at);
  }

  #byte(): number {
    return this.#bytes[this.#skip(1)]!;
  }

  #skip(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new TypeError('a token that ends too early');
    return at;
  }
}

/** Tokens of older versions have 16-bit floats. */
function toHalf(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Node 20 has it, but the TypeScript target does not declare it. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
