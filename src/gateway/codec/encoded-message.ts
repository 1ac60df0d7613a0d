// An encoded message: text, or a list of byte chunks if its result is passed on unparsed. The chunks are not joined
// unless needed, so a slow socket holds no second copy.
import type { Writable } from 'node:stream';
import type { Message, ResultMessage } from '../../protocol/message.ts';
import { RawObject } from '../../protocol/raw/raw-object.ts';
import { RawText } from '../../protocol/raw/raw-text.ts';
import { writeMessage } from './json-rpc.ts';

export type EncodedMessage = string | Buffer[];

/** A batch always becomes text. */
export function encode(message: Message | Message[]): EncodedMessage {
  const { result } = message as ResultMessage;
  if (!(result instanceof RawObject)) return writeMessage(message);
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify((message as ResultMessage).id)},"result":`;
  return result instanceof RawText ? `${head}${result.text}}` : [Buffer.from(head), ...result.chunks(), END];
}

export function byteLengthOf(written: EncodedMessage): number {
  if (typeof written === 'string') return Buffer.byteLength(written);
  return written.reduce((sum, { length }) => sum + length, 0);
}

export function toEncodedText(written: EncodedMessage): string {
  return typeof written === 'string' ? written : Buffer.concat(written).toString();
}

/** Writes in one go. Returns what the last `write` returned. */
export function writeEncoded(stream: Writable, written: EncodedMessage): boolean {
  if (typeof written === 'string') return stream.write(written);
  let isRoomLeft = true;
  stream.cork();
  for (const chunk of written) isRoomLeft = stream.write(chunk);
  stream.uncork();
  return isRoomLeft;
}

/** Adds a line end. */
export function toEncodedLine(written: EncodedMessage): EncodedMessage {
  return typeof written === 'string' ? `${written}\n` : [...written, LINE_END];
}

const END = Buffer.from('}');
const LINE_END = Buffer.from('\n');
