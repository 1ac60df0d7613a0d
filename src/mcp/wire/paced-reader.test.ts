import { describe, expect, it } from 'vitest';
import { FLOOD_LINES } from '../../kernel/base/limits.ts';
import { LineReader } from './lines.ts';
import { PacedReader } from './paced-reader.ts';

function paced(isAnswer: (line: string) => boolean = () => false) {
  const read: string[] = [];
  const told: string[] = [];
  const inbox = { answers: 0 };
  const reader = new LineReader({
    maxBytes: 1_000_000,
    onLine(line) {
      read.push(line);
      if (isAnswer(line)) inbox.answers++;
      if (line === 'end') one.end();
      if (line === 'drop') one.drop();
    },
    onOversize: () => {},
  });
  const source = { pause: () => told.push('pause'), resume: () => told.push('resume') };
  const one = new PacedReader({ reader, inbox, source });
  const resumed = async (): Promise<void> => {
    await expect.poll(() => told.at(-1), { timeout: 60_000, interval: 1 }).toBe('resume');
  };
  return { one, read, told, resumed };
}

function linesOf(count: number, text = 'x'): Buffer {
  return Buffer.from(`${text}\n`.repeat(count));
}

const FLOOD = 4 * FLOOD_LINES.burst;

describe('a paced reader', () => {
  it('reads what comes at once, as long as it is not a flood', () => {
    const { one, read, told } = paced();
    for (let n = 0; n < FLOOD_LINES.burst; n++) one.push(linesOf(1));
    expect([read.length, told]).toEqual([FLOOD_LINES.burst, []]);
  });

  it('pauses a flood, reads it in turns and in order, and continues', async () => {
    const { one, read, told, resumed } = paced();
    one.push(linesOf(FLOOD));
    one.push(Buffer.from('a\nb'));
    one.push(Buffer.from('c\nd\n'));
    expect([read.length, told, one.isWaiting]).toEqual([FLOOD, ['pause'], true]);
    await resumed();
    expect([read.slice(FLOOD), told, one.isWaiting]).toEqual([['a', 'bc', 'd'], ['pause', 'resume'], false]);
  });

  it('reads a very long line in turns, and one of a common length at once', async () => {
    const { one, told, resumed } = paced();
    const chunk = Buffer.alloc(64 * 1024, 'x');
    for (let n = 0; n < 11; n++) one.push(chunk);
    expect(told).toEqual([]);
    one.push(chunk);
    expect(told).toEqual(['pause']);
    await resumed();
    one.push(Buffer.from('\n'));
    one.push(chunk);
    expect(told).toEqual(['pause', 'resume']);
  });

  it('counts a long line that answers no call as many, and one that does as none', () => {
    for (const [isFlood, text] of [
      [true, 'x'],
      [false, 'a'],
    ] as const) {
      const { one } = paced((line) => line.startsWith('a'));
      for (let n = 0; n < 40; n++) {
        for (let part = 0; part < 3; part++) one.push(Buffer.alloc(64 * 1024, text));
        one.push(Buffer.from('\n'));
      }
      expect(one.isWaiting).toBe(isFlood);
    }
  });

  it('lets others go first while it reads a flood', async () => {
    const { one, read, resumed } = paced();
    one.push(linesOf(FLOOD));
    one.push(linesOf(1000, 'x'.repeat(1000)));
    const seen: number[] = [];
    const look = (): void => {
      seen.push(read.length);
      if (one.isWaiting) setImmediate(look);
    };
    look();
    await resumed();
    expect(read).toHaveLength(FLOOD + 1000);
    expect(seen.length).toBeGreaterThan(1000 / 100);
  });

  it('does not take many answers for a flood', () => {
    const { one, read, told } = paced((line) => line.startsWith('answer'));
    for (let n = 0; n < FLOOD; n++) one.push(Buffer.from('x\nx\nx\nanswer\n'));
    expect([read.length, told]).toEqual([4 * FLOOD, []]);
  });

  it('reads what is left when the source ends, also while it reads', async () => {
    for (const last of ['x', 'end']) {
      const { one, read, resumed } = paced();
      one.push(linesOf(FLOOD));
      one.push(Buffer.concat([Buffer.from(`${last}\n`), linesOf(100, 'y'.repeat(1000)), Buffer.from('z\n')]));
      if (last === 'x') one.end();
      else await expect.poll(() => read.at(-1), { timeout: 60_000 }).toBe('z');
      expect(read).toHaveLength(FLOOD + 102);
      await resumed();
      one.push(linesOf(FLOOD));
      one.push(linesOf(FLOOD));
      expect(read).toHaveLength(3 * FLOOD + 102);
    }
  });

  it('drops what is left when nobody wants it', async () => {
    const { one, read, resumed } = paced();
    one.push(linesOf(FLOOD));
    one.push(Buffer.concat([Buffer.from('drop\n'), linesOf(100, 'y'.repeat(1000))]));
    await resumed();
    expect(read.filter((line) => line.length === 1000).length).toBeLessThan(100);
  });
});
