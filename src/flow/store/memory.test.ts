import { expect, it } from 'vitest';
import { memoryStore } from './memory.ts';
import { keepsTheContract } from './store.contract.ts';
import { keepsItsWordInRaces } from './store-races.contract.ts';
import { MANY, header, start } from './store-samples.contract.ts';

async function inMemory() {
  const store = memoryStore();
  return { store, end: () => store.close() };
}

keepsTheContract('memory', inMemory);
keepsItsWordInRaces('memory', inMemory);

it('remembers no more than the last 10,000 sessions that have ended', async () => {
  const store = memoryStore();
  const ids = Array.from({ length: 10_050 }, (_, at) => `session_${at}`);
  for (const id of ids) {
    await store.create(header({ id, rev: 0 }), [start], MANY);
    await store.commit(id, 0, { patch: { state: 'completed' } });
  }
  const known = await Promise.all(ids.map(async (id) => (await store.load(id)) !== undefined));
  expect(known.filter(Boolean)).toHaveLength(10_000);
  expect(known.slice(-5000).every(Boolean)).toBe(true);
});
