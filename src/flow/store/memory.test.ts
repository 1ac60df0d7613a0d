import { memoryStore } from './memory.ts';
import { keepsTheContract } from './store.contract.ts';
import { keepsItsWordInRaces } from './store-races.contract.ts';

async function inMemory() {
  const store = memoryStore();
  return { store, end: () => store.close() };
}

keepsTheContract('memory', inMemory);
keepsItsWordInRaces('memory', inMemory);
