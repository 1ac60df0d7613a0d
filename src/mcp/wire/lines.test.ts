import { describe, expect, it } from 'vitest';
import { LineReader } from './lines.ts';
import { cpuMs } from '../../kernel/base/cpu-time.contract.ts';
import { checkAnySplit } from './any-split.contract.ts';

const OVERSIZE = Symbol('oversize');
type Seen = (string | typeof OVERSIZE)[];

function readLines(chunks: Iterable<Buffer>, maxBytes = 1_000_000): Seen {
  const seen: Seen = [];
  const reader = new LineReader({
    maxBytes,
    onLine: (line) => seen.push(line),
    onOversize: () => seen.push(OVERSIZE),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return seen;
}

function singleBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.from([byte]));
}

describe('LineReader', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['a\n', ['a']],
    ['a\nb\n', ['a', 'b']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['a\rb\n', ['a\rb']],
    ['\n\r\n  \n\t\r\na\n\n', ['a']],
    [' a \n', [' a ']],
    ['a\nlast', ['a', 'last']],
    ['last\r', ['last']],
    ['a\n\r', ['a']],
    ['ÿ😀é\n', ['ÿ😀é']],
  ])('reads %j the same at every split point', (text, lines) => {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at++) {
      expect(readLines([bytes.subarray(0, at), bytes.subarray(at)])).toStrictEqual(lines);
    }
    expect(readLines(singleBytes(bytes))).toStrictEqual(lines);
  });

  it('joins a character that was split between chunks', () => {
    const chunks = [[0x22, 0xf0, 0x9f], [0x98], [0x80, 0x22, 0x0a]].map((bytes) => Buffer.from(bytes));
    expect(readLines(chunks)).toStrictEqual(['"😀"']);
  });

  it('copies what it keeps, so that a chunk can be reused', () => {
    const seen: string[] = [];
    const reader = new LineReader({ maxBytes: 100, onLine: (line) => seen.push(line), onOversize: () => {} });
    const chunk = Buffer.from('abc');
    reader.push(chunk);
    chunk.write('d\nx');
    reader.push(chunk);
    expect(seen).toStrictEqual(['abcd']);
  });

  it('reports a line over the limit once, skips it and reads the next, at every split point', () => {
    const bytes = Buffer.from('12345\n123456\r\n1\n1234567890123\n12345');
    const expected = ['12345', OVERSIZE, '1', OVERSIZE, '12345'];
    for (let at = 0; at <= bytes.length; at++) {
      expect(readLines([bytes.subarray(0, at), bytes.subarray(at)], 5)).toStrictEqual(expected);
    }
    expect(readLines(singleBytes(bytes), 5)).toStrictEqual(expected);
  });

  it('reports the beginning and the end of a line over the limit', () => {
    const seen: string[] = [];
    const reader = new LineReader({
      maxBytes: 2000,
      onLine: (line) => seen.push(line),
      onOversize: (beginning, end) => seen.push(`${beginning.slice(0, 8)} … ${end.slice(-8)}`),
    });
    const line = Buffer.from(`{"id":12${'x'.repeat(4000)}"id":77}`);
    for (const size of [1, 100, 3000, line.length]) {
      for (let at = 0; at < line.length; at += size) reader.push(line.subarray(at, at + size));
      reader.push(Buffer.from('\nnext\n'));
    }
    expect(seen).toStrictEqual(Array.from({ length: 4 }, () => ['{"id":12 … "id":77}', 'next']).flat());
  });

  it('reports a line that never ends once, when it is far over the limit', () => {
    const seen: Seen = [];
    const reader = new LineReader({
      maxBytes: 5,
      onLine: (line) => seen.push(line),
      onOversize: () => seen.push(OVERSIZE),
      onEndless: () => seen.push('endless'),
    });
    reader.push(Buffer.from('123456'));
    expect(seen).toStrictEqual([]);
    for (let n = 0; n < 20; n++) reader.push(Buffer.alloc(1_000_000, 'x'));
    expect(seen).toStrictEqual([OVERSIZE, 'endless']);
    reader.end();
    expect(seen).toStrictEqual([OVERSIZE, 'endless']);
  });

  it('returns the same lines however the bytes are split', () => {
    const parts = ['\n', '\r', '\r\n', 'a', ' ', '{"id":1}', 'é', '😀', '0123456789'];
    checkAnySplit({ parts, maxBytes: { min: 1, max: 30 }, read: readLines });
  });

  it('delivers large lines as bytes if asked to, however they are split', () => {
    const large = `{"text":"${'ä€😀 '.repeat(2000)}"}`;
    const bytes = Buffer.from(`small\n${large}\n{}\n${large}\r\n ${large}\nx${large}\n${large}`);
    const expected = ['small', `bytes ${large}`, '{}', `bytes ${large}`, ` ${large}`, `x${large}`, `bytes ${large}`];
    const read = (size: number): string[] => {
      const seen: string[] = [];
      const reader = new LineReader({
        maxBytes: 1_000_000,
        onLine: (line) => seen.push(line),
        onBytes: (line) => seen.push(`bytes ${line.toString()}`),
        onOversize: () => {},
      });
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      reader.end();
      return seen;
    };
    for (const size of [1, 7, 1000, 4095, 4096, 5000, 65_536, bytes.length]) {
      expect(read(size).join('\n') === expected.join('\n'), `in chunks of ${size}`).toBe(true);
    }
  });

  it('reads a line of 50 MB in small chunks, and many lines in one chunk, in linear time', () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const count = 800;
    const chunks = Array<Buffer>(count).fill(chunk);
    const spent = cpuMs(() => {
      expect(readLines(chunks, count * chunk.length)).toHaveLength(1);
      expect(readLines([Buffer.from('{"a":1}\n'.repeat(200_000))])).toHaveLength(200_000);
      expect(readLines(Array<Buffer>(200_000).fill(Buffer.from('x')))).toHaveLength(1);
    });
    // Quadratic copying would take minutes.
    expect(spent).toBeLessThan(5000);
  });
});
