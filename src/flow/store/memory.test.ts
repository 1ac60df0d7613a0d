import { memoryStore } from './memory.ts';
import { keepsTheContract } from './store.contract.ts';

keepsTheContract('memory', async () => {
  const store = memoryStore();
  return { store, end: () => store.close() };
});
