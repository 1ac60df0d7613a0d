// Contract: leases and their fences.
import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import { answer } from './store-samples.contract.ts';
import type { FlowStore } from './store.ts';
import type { Stored } from './store.contract.ts';

export function keepsLeases(subject: Stored): void {
  let store: FlowStore;
  beforeEach(() => {
    store = subject.store;
  });
  const stored: Stored['stored'] = (over) => subject.stored(over);

  describe('leases', () => {
    it('are held by one owner, and given again to the same', async () => {
      const { id } = await stored();
      const first = (await store.lease(id, 'a', 60_000))!;
      expect(await store.lease(id, 'b', 60_000)).toBeUndefined();
      const second = (await store.lease(id, 'a', 60_000))!;
      expect(second.fence).toBeGreaterThan(first.fence);
    });

    it('are let go only by who holds them', async () => {
      const { id } = await stored();
      const { fence } = (await store.lease(id, 'a', 60_000))!;
      await store.release(id, 'b');
      expect(await store.lease(id, 'b', 60_000)).toBeUndefined();
      await store.release(id, 'a');
      expect((await store.lease(id, 'b', 60_000))!.fence).toBeGreaterThan(fence);
    });

    it('run out, and a late writer is fenced off', async () => {
      const { id } = await stored();
      const slow = (await store.lease(id, 'slow', 20))!;
      const quick = await until('the lease to run out', () => store.lease(id, 'quick', 60_000));
      expect(quick.fence).toBeGreaterThan(slow.fence);
      const before = await store.load(id);
      const late = await store.commit(id, 1, { patch: { prompts: 5 }, add: [answer('a', 1)], fence: slow.fence });
      expect(late).toEqual({ ok: false, header: before!.header });
      expect(await store.load(id)).toEqual(before);
      expect(await store.commit(id, 1, { patch: { prompts: 1 }, fence: quick.fence })).toEqual({ ok: true, rev: 2 });
    });

    it('do not stop a commit that needs none', async () => {
      const { id } = await stored();
      await store.lease(id, 'a', 60_000);
      expect(await store.commit(id, 1, { patch: { state: 'cancelled' } })).toEqual({ ok: true, rev: 2 });
    });
  });
}
