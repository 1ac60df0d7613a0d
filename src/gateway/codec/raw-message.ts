// Reads a large answer without parsing it: its id, and its result as bytes with the positions of its members. Anything
// unusual is left to `readMessage`, which also reports errors.
// 1. `readMessage` would accept the same bytes as the same message: they are valid UTF-8 and valid JSON. So a server's
//    mistake never becomes a broken line for a client.
// 2. The bytes contain no line end, so they fit into a line, an event or a frame.
// 3. No key of the message or the result occurs twice, because readers would disagree on which one counts.
import type { RequestId, ResultMessage } from '../../protocol/message.ts';
import { RawBytes } from '../../protocol/raw/raw-bytes.ts';
import type { RawMember } from '../../protocol/raw/raw-bytes.ts';
import { isId } from './json-rpc.ts';
import type { ReadLimits } from './json-rpc.ts';
import { JsonScan } from './json-scan.ts';
import type { ShapeExcess } from './json-shape.ts';

/** Below this size, parsing is cheaper. */
export const LARGE_BYTES = 16 * 1024;

/** Results have a few members; each costs an entry. */
const MAX_MEMBERS = 64;
const BRACE = 0x7b;
/** An `import` would load all of `node:buffer`, with files and blobs. */
const { isUtf8 } = process.getBuiltinModule('node:buffer');

/** Undefined unless it is certainly an answer with an object as its result. `onExcess`: it has too much of something. */
export function readRaw(
  bytes: Buffer,
  { maxDepth, maxValues = Infinity }: ReadLimits,
  onExcess?: (excess: ShapeExcess) => void,
): ResultMessage | undefined {
  if (bytes[0] !== BRACE || !isUtf8(bytes)) return undefined;
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
