// The parts of the store in memory that also stand alone, beside sessions in tokens.
import { describe } from 'vitest';
import { systemClock } from '../../../kernel/base/clock.ts';
import { keepsBlobs } from '../store-blobs.contract.ts';
import { keepsSpentTokens } from '../store-spent.contract.ts';
import { MemoryBlobs } from './blobs.ts';
import { MemorySpentTokens } from './spent-tokens.ts';

describe('blobs in memory alone', () => {
  keepsBlobs({
    get store() {
      return new MemoryBlobs(systemClock);
    },
  });
});

describe('spent tokens in memory alone', () => {
  keepsSpentTokens({
    get store() {
      return new MemorySpentTokens(systemClock);
    },
  });
});
