// Finds where a JSON string ends, in bytes. Most of a large message is strings, so four bytes are checked at a time; a
// loop over single bytes would take as long as parsing. UTF-8 is not checked.

/** The bytes, and a view of them as aligned 32-bit words. */
export interface WordView {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  /** The number of bytes before the first word. */
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

/** The position after the closing quote of the string that begins here; -1 if it is invalid. */
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

export function bytesIn(text: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(text)) table[byte] = 1;
  return table;
}
