// Contract: what may be used once. For a whole store, or one that keeps only this.
import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { SpentTokens } from './store.ts';

export function keepsSpentTokens(subject: { readonly store: SpentTokens }): void {
  let store: SpentTokens;
  beforeEach(() => {
    store = subject.store;
  });

  describe('spend', () => {
    it('is true once for each turn of each session', async () => {
      expect(await store.spend('s', 1, 60_000)).toBe(true);
      expect(await store.spend('s', 1, 60_000)).toBe(false);
      expect(await store.spend('s', 2, 60_000)).toBe(true);
      expect(await store.spend('s1', 2, 60_000)).toBe(true);
      expect(await store.spend('s', 12, 60_000)).toBe(true);
    });

    it('is forgotten after its time', async () => {
      await store.spend('s', 1, 30);
      await until('the turn to be forgotten', () => store.spend('s', 1, 60_000));
      expect(await store.spend('s', 1, 60_000)).toBe(false);
    });
  });
}
