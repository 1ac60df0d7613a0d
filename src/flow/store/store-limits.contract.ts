// Contract: the limits on open sessions, and lists of them.
import { beforeEach, describe, expect, it } from 'vitest';
import { header } from './store-samples.contract.ts';
import type { FlowStore } from './store.ts';
import type { Stored } from './store.contract.ts';

export function keepsLimits(subject: Stored): void {
  let store: FlowStore;
  beforeEach(() => {
    store = subject.store;
  });
  const stored: Stored['stored'] = (over) => subject.stored(over);

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
