import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readInTurns } from './paced-reader.ts';

const MiB = 1024 * 1024;

it('resumes one source in each round of the event loop, the longest message first', async () => {
  const said: string[] = [];
  const toSource = (name: string) => ({
    pause: () => said.push(`${name} waits`),
    resume: () => said.push(`${name} goes on`),
  });
  for (const [name, megabytes] of [
    ['a', 1],
    ['b', 3],
    ['c', 2],
    ['d', 3],
  ] as const) {
    readInTurns(toSource(name), megabytes * MiB, 1);
  }
  expect(said.splice(0)).toEqual(['a waits', 'b waits', 'c waits', 'd waits']);
  for (const name of ['b', 'd', 'c', 'a']) {
    await nextRound();
    expect(said.splice(0)).toEqual([`${name} goes on`]);
  }
});

it('gives one turn in each round to a source that continues at once when it is resumed', async () => {
  let turns = 0;
  const again = { pause() {}, resume: () => void (++turns < 100 && readInTurns(again, MiB, 1)) };
  readInTurns(again, MiB, 1);
  readInTurns(again, MiB, 1);
  for (let n = 1; n <= 5; n++) {
    await nextRound();
    expect(turns).toBe(n);
  }
  turns = 100;
});

it('pauses nothing at the beginning of a message, nor within a turn', () => {
  let pauses = 0;
  const source = { pause: () => pauses++, resume() {} };
  const chunk = 64 * 1024;
  for (let bytes = chunk; bytes <= MiB / 2; bytes += chunk) readInTurns(source, bytes, chunk);
  expect(pauses).toBe(0);
  for (let bytes = MiB + chunk; bytes <= 2 * MiB; bytes += chunk) readInTurns(source, bytes, chunk);
  expect(pauses).toBe(4);
});
