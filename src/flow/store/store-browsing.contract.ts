// Contract: browsing all sessions of a store.
import { beforeEach, describe, expect, it } from 'vitest';
import { header, MANY, start } from './store-samples.contract.ts';
import type { FlowStore, ListedSession } from './store.ts';
import type { Stored } from './store.contract.ts';

export function canBeBrowsed(subject: Stored): void {
  let store: FlowStore;
  beforeEach(() => {
    store = subject.store;
  });
  const stored: Stored['stored'] = (over) => subject.stored(over);
  const pagesOf = async (id?: string): Promise<ListedSession[][]> => {
    const pages: ListedSession[][] = [];
    for await (const page of store.browse!(id)) pages.push(page);
    return pages;
  };
  const seen = async (id?: string): Promise<ListedSession[]> => (await pagesOf(id)).flat();

  describe('browsing', () => {
    it('shows every session with its header, open ones and ended ones', async () => {
      const [one, two] = [await stored({ principal: 'a "b\\' }), await stored({ current: [{ key: 'city' }] })];
      await store.commit(two.id, 1, { patch: { state: 'cancelled', reason: 'enough' } });
      const all = Object.fromEntries((await seen()).map(({ header: found }) => [found.id, found]));
      expect(all).toEqual({
        [one.id]: one,
        [two.id]: { ...two, state: 'cancelled', reason: 'enough', current: [], rev: 2 },
      });
    });

    it('shows when a session is due, and until when it is held', async () => {
      const { id, expiresAt } = await stored();
      expect(await seen(id)).toMatchObject([{ dueAt: expiresAt }]);
      expect((await seen(id))[0]!.heldUntil).toBeUndefined();
      await store.commit(id, 1, { patch: {}, dueAt: 1234 });
      await store.lease(id, 'a', 60_000);
      const [held] = await seen(id);
      expect(held).toMatchObject({ dueAt: 1234 });
      expect(held!.heldUntil).toBeGreaterThan(0);
      await store.release(id, 'a');
      expect((await seen(id))[0]!.heldUntil).toBeUndefined();
      await store.commit(id, 2, { patch: { state: 'completed' } });
      expect(await seen(id)).toEqual([{ header: expect.objectContaining({ id, state: 'completed' }) }]);
    });

    it('goes through more than fit into one page, and shows each once', async () => {
      const made = Array.from({ length: 450 }, () => header());
      await Promise.all(made.map((one) => store.create(one, [start], MANY)));
      const pages = await pagesOf();
      const ids = pages.flat().map(({ header: { id } }) => id);
      expect(pages.length).toBeGreaterThan(1);
      expect(ids.sort()).toEqual(made.map(({ id }) => id).sort());
    });

    it('shows nothing of an id that was never given, nor of an empty store', async () => {
      expect(await seen()).toEqual([]);
      expect(await seen('session_x')).toEqual([]);
    });
  });
}
