import { expect, it } from 'vitest';
import { manualClock } from '../../testing/manual-clock.ts';
import { memoryStore } from './memory.ts';
import { keepsTheContract } from '../store.contract.ts';
import { keepsItsWordInRaces } from '../store-races.contract.ts';
import { MANY, header, start } from '../store-samples.contract.ts';

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
