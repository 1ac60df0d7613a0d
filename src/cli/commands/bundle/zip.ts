// Writes a ZIP archive. The same files give the same bytes: there are no times in it.
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  /** With "/", from the root of the archive. */
  path: string;
  content: Buffer;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const DEFLATE = 8;
const UTF8_NAMES = 0x0800;
const VERSION = 20;
const MADE_ON_UNIX = (3 << 8) | VERSION;
/** 1980-01-01, the earliest that the format knows. */
const DATE = 0x21;
const FILE_MODE = 0o100644;
/** Beyond it, another format is needed. */
const MAX_ENTRIES = 0xffff;

export function toZip(entries: readonly ZipEntry[]): Buffer {
  if (entries.length > MAX_ENTRIES) throw new Error(`a ZIP archive has at most ${MAX_ENTRIES} files`);
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of entries) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(content, { level: 9 });
    const about = aboutOf({ content, packed, name });
    const local = Buffer.concat([uint32(LOCAL), uint16(VERSION), about, uint16(0), name]);
    const attributes = [uint16(0), uint16(0), uint16(0), uint16(0), uint32(FILE_MODE * 0x10000), uint32(offset)];
    central.push(Buffer.concat([uint32(CENTRAL), uint16(MADE_ON_UNIX), uint16(VERSION), about, ...attributes, name]));
    parts.push(local, packed);
    offset += local.length + packed.length;
  }
  const index = Buffer.concat(central);
  const count = uint16(entries.length);
  const end = [uint32(END), uint16(0), uint16(0), count, count, uint32(index.length), uint32(offset), uint16(0)];
  return Buffer.concat([...parts, index, ...end]);
}

/** What both headers of a file have in common, up to the length of its name. */
function aboutOf({ content, packed, name }: { content: Buffer; packed: Buffer; name: Buffer }): Buffer {
  const sizes = [uint32(crc32(content)), uint32(packed.length), uint32(content.length)];
  return Buffer.concat([uint16(UTF8_NAMES), uint16(DEFLATE), uint16(0), uint16(DATE), ...sizes, uint16(name.length)]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}
