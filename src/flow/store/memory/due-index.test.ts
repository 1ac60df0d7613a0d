import { expect, it } from 'vitest';
import { seeded } from '../../../../tests/helpers/flow-programs.ts';
import { DueIndex } from './due-index.ts';

it('gives what is due, soonest first, however moments are moved', () => {
  const random = seeded(7);
  const [index, plain] = [new DueIndex(), new Map<string, number>()];
  for (let turn = 0; turn < 20_000; turn++) {
    const id = `s${Math.floor(random() * 50)}`;
    const at = Math.floor(random() * 1000);
    if (random() < 0.2) {
      index.delete(id);
      plain.delete(id);
    } else {
      index.set(id, at);
      plain.set(id, at);
    }
    if (turn % 20 > 0) continue;
    const now = Math.floor(random() * 1000);
    const due = [...plain].filter(([, when]) => when <= now).map(([, when]) => when);
    const told = index.before(now, 1000);
    expect(told.map((one) => plain.get(one))).toEqual(due.toSorted((a, b) => a - b));
    expect(index.size).toBe(plain.size);
  }
});

it('gives those that are due at one moment in the order they were set', () => {
  const index = new DueIndex();
  const ids = Array.from({ length: 1000 }, (_, at) => `s${at}`);
  for (const id of ids) index.set(id, 7);
  expect(index.before(7, 10)).toEqual(ids.slice(0, 10));
  expect(index.before(7, 1000)).toEqual(ids);
});
