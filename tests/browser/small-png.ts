// A screenshot with at most 256 colours: pages have few, and the pictures are part of the package. Rare shades of smoothed letters become the nearest of the others.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = 8;
const COLOURS = 256;

/** `png`: as Chromium writes it, with 8 bits for each of three or four channels. */
export function toSmallPng(png: Buffer): Buffer {
  const chunks = readChunks(png);
  const header = chunks.find(({ type }) => type === 'IHDR')!.data;
  const size = { width: header.readUInt32BE(0), height: header.readUInt32BE(4), channels: header[9] === 6 ? 4 : 3 };
  const pixels = unfiltered(
    inflateSync(Buffer.concat(chunks.flatMap(({ type, data }) => (type === 'IDAT' ? [data] : [])))),
    size,
  );
  const { palette, indexOf } = toPalette(pixels);
  const rows = Buffer.alloc(size.height * (size.width + 1));
  for (let y = 0, at = 0; y < size.height; y++)
    for (let x = 0; x < size.width; x++) rows[y * (size.width + 1) + x + 1] = indexOf.get(pixels[at++]!)!;
  const indexed = Buffer.from(header);
  indexed[9] = 3;
  const written = [
    toChunk('IHDR', indexed),
    toChunk('PLTE', Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))),
    toChunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    toChunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([png.subarray(0, SIGNATURE), ...written]);
}

function readChunks(png: Buffer): { type: string; data: Buffer }[] {
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = SIGNATURE; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function toChunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, check]);
}

/** The colours of all pixels, without transparency. */
function unfiltered(
  data: Buffer,
  { width, height, channels }: { width: number; height: number; channels: number },
): Uint32Array {
  const stride = width * channels;
  const pixels = new Uint32Array(width * height);
  let above = Buffer.alloc(stride);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)]!;
    const row = Buffer.from(data.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
    for (let i = 0; i < stride; i++) {
      const [left, up, corner] = [row[i - channels] ?? 0, above[i]!, above[i - channels] ?? 0];
      row[i] = row[i]! + [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!;
    }
    for (let x = 0; x < width; x++) pixels[y * width + x] = row.readUIntBE(x * channels, 3);
    above = row;
  }
  return pixels;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function toPalette(pixels: Uint32Array): { palette: number[]; indexOf: Map<number, number> } {
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const colours = [...counts].toSorted(([, one], [, other]) => other - one).map(([colour]) => colour);
  const palette = colours.slice(0, COLOURS);
  const nearest = (colour: number): number =>
    palette.reduce((best, one, index) => (distance(one, colour) < distance(palette[best]!, colour) ? index : best), 0);
  return { palette, indexOf: new Map(colours.map((colour) => [colour, nearest(colour)])) };
}

function distance(one: number, other: number): number {
  const of = (shift: number): number => (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2;
  return of(16) + of(8) + of(0);
}
