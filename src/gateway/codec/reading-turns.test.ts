import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { waitForTurn } from './reading-turns.ts';

it('resumes one source in each round of the event loop, in the order in which they came', async () => {
  const said: string[] = [];
  const toSource = (name: string) => ({
    pause: () => said.push(`${name} waits`),
    resume: () => said.push(`${name} goes on`),
  });
  for (const name of ['a', 'b', 'c']) waitForTurn(toSource(name));
  expect(said.splice(0)).toEqual(['a waits', 'b waits', 'c waits']);
  for (const name of ['a', 'b', 'c']) {
    await nextRound();
    expect(said.splice(0)).toEqual([`${name} goes on`]);
  }
});

it('gives turns to those that come while others wait', async () => {
  let turns = 0;
  const again = { pause() {}, resume: () => void (++turns < 3 && waitForTurn(again)) };
  waitForTurn(again);
  for (let n = 0; n < 3; n++) await nextRound();
  expect(turns).toBe(3);
});
