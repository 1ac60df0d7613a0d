// Contract: due times, and how ended sessions are forgotten.
import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import { answer, header, MANY, start } from './store-samples.contract.ts';
import type { FlowStore } from './store.ts';
import type { Stored } from './store.contract.ts';

export function keepsUpkeep(subject: Stored): void {
  let store: FlowStore;
  beforeEach(() => {
    store = subject.store;
  });
  const stored: Stored['stored'] = (over) => subject.stored(over);

  describe('how a session ended', () => {
    it('stays with its header until it is forgotten, and nothing else goes with it', async () => {
      const { id } = await stored();
      await store.commit(id, 1, {
        patch: { state: 'completed', outcome: '{"result":"é\u2028"}' },
        add: [answer('a', 1)],
      });
      const { outcome, ...rest } = (await store.load(id))!.header;
      expect(outcome).toBe('{"result":"é\u2028"}');
      await store.forgetOutcome!(id);
      await store.forgetOutcome!(id);
      expect((await store.load(id))!.header).toEqual(rest);
      await store.forgetOutcome!('session_nobody');
    });

    it('is not forgotten of a session that has not ended', async () => {
      const { id } = await stored();
      await store.commit(id, 1, { patch: { outcome: 'x' } });
      const before = await store.load(id);
      await store.forgetOutcome!(id);
      expect(await store.load(id)).toEqual(before);
    });
  });

  describe('due', () => {
    it('names the soonest first, and no more than wanted', async () => {
      const [late, soon, middle] = [
        await stored({ expiresAt: 3000 }),
        await stored({ expiresAt: 1000 }),
        await stored({ expiresAt: 2000 }),
      ];
      expect(await store.due(999, 10)).toEqual([]);
      expect(await store.due(1000, 10)).toEqual([soon.id]);
      expect(await store.due(5000, 10)).toEqual([soon.id, middle.id, late.id]);
      expect(await store.due(5000, 2)).toEqual([soon.id, middle.id]);
    });

    it('follows the creation, where that names a time', async () => {
      const made = header({ expiresAt: 5000 });
      await store.create(made, [start], { ...MANY, dueAt: 3000 });
      expect(await store.due(2999, 10)).toEqual([]);
      expect(await store.due(3000, 10)).toEqual([made.id]);
      await store.commit(made.id, 1, { patch: {} });
      expect(await store.due(4999, 10)).toEqual([]);
    });

    it('follows each commit: to the time it names, or the expiry', async () => {
      const { id } = await stored({ expiresAt: 1000 });
      await store.commit(id, 1, { patch: { expiresAt: 5000 }, dueAt: 3000 });
      expect(await store.due(2999, 10)).toEqual([]);
      expect(await store.due(3000, 10)).toEqual([id]);
      await store.commit(id, 2, { patch: {} });
      expect(await store.due(4999, 10)).toEqual([]);
      expect(await store.due(5000, 10)).toEqual([id]);
    });

    it('leaves out sessions that are held', async () => {
      const [held, free] = [await stored({ expiresAt: 1000 }), await stored({ expiresAt: 2000 })];
      await store.lease(held.id, 'a', 60_000);
      expect(await store.due(Date.now(), 10)).toEqual([free.id]);
      await store.release(held.id, 'a');
      expect(await store.due(Date.now(), 10)).toEqual([held.id, free.id]);
      await store.lease(held.id, 'a', 20);
      await until('the lease to run out', async () => (await store.due(Date.now(), 10)).length === 2);
    });

    it('leaves out what has ended or is gone', async () => {
      const [over, gone] = [await stored({ expiresAt: 1000 }), await stored({ expiresAt: 1000 })];
      await store.commit(over.id, 1, { patch: { state: 'error' }, dueAt: 1 });
      await store.drop(gone.id);
      expect(await store.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    });
  });
}
