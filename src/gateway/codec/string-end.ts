// Where a string of JSON ends, in bytes. Strings are nearly all of a large message, so they are crossed four bytes at a time:
// a loop over single bytes takes as long as parsing does. UTF-8 is not checked.

/** The same bytes, also in fours from the first that is aligned. */
export interface WordView {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  /** How many bytes stand before the first four. */
  readonly shift: number;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNICODE = 0x75;
const ESCAPED = bytesIn('"\\/bfnrt');
const HEX = bytesIn('0123456789abcdefABCDEF');
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export function toWordView(bytes: Buffer): WordView {
  const shift = (4 - (bytes.byteOffset & 3)) & 3;
  const count = (bytes.length - shift) >> 2;
  const words = count > 0 ? new Int32Array(bytes.buffer, bytes.byteOffset + shift, count) : new Int32Array(0);
  return { bytes, words, shift };
}

/** The place behind the closing quote of the string whose content begins here; -1 when it is none. */
export function endOfString({ bytes, words, shift }: WordView, from: number): number {
  let at = from;
  for (;;) {
    if (((at - shift) & 3) === 0) at = skipPlain(words, (at - shift) >> 2) + shift;
    if (at >= bytes.length) return -1;
    const byte = bytes[at++]!;
    if (byte === QUOTE) return at;
    if (byte < SPACE) return -1;
    if (byte !== BACKSLASH) continue;
    const escaped = bytes[at++]!;
    if (ESCAPED[escaped] === 1) continue;
    if (escaped !== UNICODE) return -1;
    for (const end = at + 4; at < end; at++) if (HEX[bytes[at]!] !== 1) return -1;
  }
}

/**
 * How many bytes there are before the next that means something: a quote, a backslash, or one below the space, which may not
 * stand in a string. With 2 flipped in each byte, a quote is less than 33, as are all below the space, and no other. The
 * highest bit of a byte in `found` says that it is one of them; only of the first such byte is that certain.
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

export function bytesIn(text: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(text)) table[byte] = 1;
  return table;
}
