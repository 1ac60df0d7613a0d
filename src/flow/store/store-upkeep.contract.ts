// Contract: leases, due times, limits and owners of sessions.
import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import { answer, header, MANY, start } from './store-samples.contract.ts';
import type { FlowStore } from './store.ts';
import type { Stored } from './store.contract.ts';

export function keepsOrder(subject: Stored): void {
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

  describe('limits', () => {
    it('count what has not ended, of one principal', async () => {
      const limits = { perPrincipal: 2, total: 100 };
      const [a, b] = [header(), header()];
      expect(await store.create(a, [], limits)).toBe('ok');
      expect(await store.create(b, [], limits)).toBe('ok');
      const c = header();
      expect(await store.create(c, [], limits)).toBe('limit');
      expect(await store.load(c.id)).toBeUndefined();
      expect(await store.create(header({ principal: 'other' }), [], limits)).toBe('ok');
      await store.commit(a.id, 1, { patch: { state: 'completed' } });
      expect(await store.create(c, [], limits)).toBe('ok');
      expect(await store.create(header(), [], limits)).toBe('limit');
      await store.drop(b.id);
      await store.drop(b.id);
      await store.drop(a.id);
      expect(await store.create(header(), [], limits)).toBe('ok');
      expect(await store.create(header(), [], limits)).toBe('limit');
    });

    it('count by share where a session has one', async () => {
      const limits = { perPrincipal: 2, total: 100 };
      const [a, b] = [header({ share: 'a' }), header({ share: 'a' })];
      expect(await store.create(a, [], limits)).toBe('ok');
      expect(await store.create(b, [], limits)).toBe('ok');
      expect(await store.create(header({ share: 'a' }), [], limits)).toBe('limit');
      expect(await store.create(header({ share: 'b' }), [], limits)).toBe('ok');
      expect(await store.create(header(), [], limits)).toBe('ok');
      expect((await store.load(a.id))?.header).toMatchObject({ principal: a.principal, share: 'a' });
      expect((await store.list('a')).map(({ id }) => id).toSorted()).toEqual([a.id, b.id].toSorted());
      await store.commit(a.id, 1, { patch: { state: 'completed' } });
      await store.drop(b.id);
      expect(await store.list('a')).toEqual([]);
      expect(await store.create(header({ share: 'a' }), [], limits)).toBe('ok');
      expect(await store.create(header({ share: 'a' }), [], limits)).toBe('ok');
      expect(await store.create(header({ share: 'a' }), [], limits)).toBe('limit');
    });

    it('count by network, in front of the slash of a share', async () => {
      const limits = { perPrincipal: 2, perNetwork: 3, total: 100 };
      const made = [header({ share: 'n/a' }), header({ share: 'n/a' }), header({ share: 'n/b' })];
      for (const one of made) expect(await store.create(one, [], limits)).toBe('ok');
      expect(await store.create(header({ share: 'n/a' }), [], limits)).toBe('limit');
      expect(await store.create(header({ share: 'n/b' }), [], limits)).toBe('network');
      expect(await store.create(header({ share: 'n/c' }), [], limits)).toBe('network');
      for (const share of ['n', 'm/a', 'nn/a', 'n-/a']) {
        expect(await store.create(header({ share }), [], limits), share).toBe('ok');
      }
      expect((await store.list('n/a')).map(({ id }) => id).toSorted()).toEqual([made[0]!.id, made[1]!.id].toSorted());
      await store.commit(made[0]!.id, 1, { patch: { state: 'completed' } });
      expect(await store.create(header({ share: 'n/c' }), [], limits)).toBe('ok');
      expect(await store.create(header({ share: 'n/c' }), [], limits)).toBe('network');
      await store.drop(made[2]!.id);
      await store.drop(made[0]!.id);
      expect(await store.create(header({ share: 'n/c' }), [], limits)).toBe('ok');
      expect(await store.create(header({ share: 'n/b' }), [], limits)).toBe('network');
    });

    it('count in all', async () => {
      const limits = { perPrincipal: 100, total: 2 };
      const a = header({ principal: 'a' });
      expect(await store.create(a, [], limits)).toBe('ok');
      expect(await store.create(header({ principal: 'b' }), [], limits)).toBe('ok');
      expect(await store.create(header({ principal: 'c' }), [], limits)).toBe('limit');
      await store.commit(a.id, 1, { patch: { state: 'cancelled' }, tombstoneMs: 0 });
      expect(await store.create(header({ principal: 'c' }), [], limits)).toBe('ok');
      expect(await store.create(header({ principal: 'd' }), [], limits)).toBe('limit');
    });
  });

  describe('list', () => {
    it('names the open sessions of one principal, oldest first', async () => {
      const [young, old, over] = [
        await stored({ createdAt: 3000 }),
        await stored({ createdAt: 1000 }),
        await stored({ createdAt: 2000 }),
      ];
      await stored({ principal: 'other' });
      await store.commit(over.id, 1, { patch: { state: 'completed' } });
      await store.commit(young.id, 1, { patch: { prompts: 1 } });
      expect(await store.list(old.principal)).toEqual([old, { ...young, prompts: 1, rev: 2 }]);
      await store.drop(old.id);
      expect((await store.list(old.principal)).map(({ id }) => id)).toEqual([young.id]);
      expect(await store.list('nobody')).toEqual([]);
    });
  });
}
