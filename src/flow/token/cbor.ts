// CBOR as tokens use it: JSON values, `undefined` where something is absent, and bytes. Strings that are no proper Unicode would
// not survive UTF-8; they go as their UTF-16 units behind a tag, so that whatever JSON can say comes back as it was.
import { decode, encode, Token, Type } from 'cborg';

const UTF16_TAG = 70_016;

/** The order of keys is part of a value: a body may go through them. */
const ENCODING = { mapSorter: asTheyStand, typeEncoders: { string: asUnits } };
const DECODING = { tags: { [UTF16_TAG]: fromUnits } };

export function toCbor(value: unknown): Uint8Array {
  return encode(value, ENCODING);
}

export function fromCbor(bytes: Uint8Array): unknown {
  return decode(bytes, DECODING);
}

function asTheyStand(): number {
  return 0;
}

function asUnits(text: string): Token[] | null {
  if (isWellFormed(text)) return null;
  return [new Token(Type.tag, UTF16_TAG), new Token(Type.bytes, Uint8Array.from(Buffer.from(text, 'utf16le')))];
}

function fromUnits(inner: () => unknown): string {
  return Buffer.from(inner() as Uint8Array).toString('utf16le');
}

/** Node 20 has it; the language level of the project does not. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
