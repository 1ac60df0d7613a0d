import { expect, it } from 'vitest';
import { manualClock } from '../testing/manual-clock.ts';
import { seeded } from '../../../tests/helpers/flow-programs.ts';
import { DueIndex, memoryStore } from './memory.ts';
import { keepsTheContract } from './store.contract.ts';
import { keepsItsWordInRaces } from './store-races.contract.ts';
import { MANY, header, start } from './store-samples.contract.ts';

async function inMemory() {
  const store = memoryStore();
  return { store, end: () => store.close() };
}

keepsTheContract('memory', inMemory);
keepsItsWordInRaces('memory', inMemory);

it.each([
  ['a millisecond apart', 1],
  ['within one millisecond', 0],
])('remembers the last 10,000 sessions that have ended %s', async (_, apartMs) => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const ids = Array.from({ length: 10_050 }, (__, at) => `session_${at}`);
  for (const id of ids) {
    await store.create(header({ id, rev: 0 }), [start], MANY);
    await store.commit(id, 0, { patch: { state: 'completed' } });
    clock.move(apartMs);
  }
  const known = await Promise.all(ids.map(async (id) => (await store.load(id)) !== undefined));
  expect(known.slice(0, 50).some(Boolean)).toBe(false);
  expect(known.slice(50).every(Boolean)).toBe(true);
});

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
