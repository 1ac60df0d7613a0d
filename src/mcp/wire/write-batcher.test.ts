import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { WriteBatcher } from './write-batcher.ts';

/** A stream that records writes and accepts them on demand. */
function setUp({ takes = true, highWaterMark = 1 << 20 } = {}) {
  const chunks: string[] = [];
  let full = 0;
  const waiting: ((error?: Error) => void)[] = [];
  const stream = new Writable({
    highWaterMark,
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      chunks.push(String(chunk));
      if (takes) done();
      else waiting.push(done);
    },
  });
  stream.on('error', () => {});
  const out = new WriteBatcher(stream, { onFull: () => full++ });
  return { out, stream, chunks, waiting, full: () => full };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('a write batcher', () => {
  it('writes the lines of one turn together and in order', async () => {
    const { out, chunks } = setUp();
    out.write('a\n');
    await Promise.resolve();
    out.write('b\n');
    expect([chunks, out.length]).toEqual([[], 4]);
    await nextTurn();
    out.write('c\n');
    await nextTurn();
    expect([chunks, out.length]).toEqual([['a\nb\n', 'c\n'], 0]);
  });

  it.each([
    [false, [['a\n'], ['a\n', 'b\n'], ['a\n', 'b\n', 'c\n']]],
    [true, [[], [], []]],
  ])(
    'what an event leads to leaves with it, or, where there are others (%s), at the end of the turn',
    async (others, expected) => {
      const { out, chunks } = setUp();
      await nextTurn();
      const seen: string[][] = [];
      for (const line of ['a\n', 'b\n', 'c\n']) {
        setImmediate(() => out.write(line, others));
        setImmediate(() => seen.push([...chunks]));
      }
      await nextTurn();
      await nextTurn();
      expect(seen).toEqual(expected);
      expect(chunks.join('')).toBe('a\nb\nc\n');
    },
  );

  it('holds only a few lines', () => {
    const { out, chunks } = setUp();
    const long = 'x'.repeat(10_000);
    out.write(long);
    expect(chunks).toEqual([]);
    out.write(long);
    expect(chunks).toEqual([long + long]);
  });

  it('writes byte chunks after the earlier lines', () => {
    const { out, chunks } = setUp();
    out.write('a\n');
    out.write([Buffer.from('b'), Buffer.from('\n')]);
    out.write('c\n');
    out.flush();
    expect(chunks.join('')).toBe('a\nb\nc\n');
  });

  it('resolves when the stream has taken the lines', async () => {
    const { out, waiting } = setUp({ takes: false });
    const told: string[] = [];
    void out.send('a\n').then(() => told.push('a'));
    void out.send('b\n').then(() => told.push('b'));
    await nextTurn();
    expect(told).toEqual([]);
    waiting[0]!();
    await nextTurn();
    expect(told).toEqual(['a', 'b']);
  });

  it('gives the stream little at a time, in order, and tells each time that something was taken', async () => {
    const { out, stream, chunks, waiting } = setUp({ takes: false });
    let taken = 0;
    out.onTaken = () => taken++;
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(600_000));
    const sent = texts.map((text) => out.send(text));
    expect(out.length).toBe(1_800_000);
    for (let n = 0; n < waiting.length; n++) {
      expect(stream.writableLength).toBeLessThan(600_000);
      waiting[n]!();
      await nextTurn();
      expect(taken).toBe(n + 1);
    }
    await Promise.all(sent);
    expect(taken).toBeGreaterThan(6);
    expect([chunks.join('') === texts.join(''), out.length]).toEqual([true, 0]);
  });

  it.each([0, 1])('never divides a character into two pieces (after %s others)', async (others) => {
    const chunks: Buffer[] = [];
    const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void chunks.push(chunk)) });
    const text = `${'x'.repeat(others)}${'😀'.repeat(400_000)}`;
    await new WriteBatcher(stream).send(text);
    expect(chunks.length).toBeGreaterThan(2);
    expect(Buffer.concat(chunks).toString() === text).toBe(true);
  });

  it('hands all to a stream that is about to end', async () => {
    const { out, stream, chunks, waiting } = setUp({ takes: false });
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(600_000));
    const sent = texts.map((text) => out.send(text));
    out.flush();
    stream.end();
    for (let n = 0; n < waiting.length; n++) {
      waiting[n]!();
      await nextTurn();
    }
    await Promise.all(sent);
    expect(chunks.join('') === texts.join('')).toBe(true);
  });

  it('rejects every sender when the stream fails', async () => {
    const { out, waiting } = setUp({ takes: false });
    const long = 'x'.repeat(300_000);
    const all = Promise.allSettled([out.send('a\n'), out.send(long), out.send(long), out.send(long)]);
    waiting[0]!(new Error('gone'));
    expect((await all).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'rejected'));
  });

  it('reports a full stream, also for held lines', async () => {
    const { out, full } = setUp({ takes: false, highWaterMark: 8 });
    out.write('12345678\n');
    expect(full()).toBe(0);
    await nextTurn();
    expect(full()).toBe(1);
    out.write([Buffer.from('9')]);
    expect(full()).toBe(2);
  });
});
