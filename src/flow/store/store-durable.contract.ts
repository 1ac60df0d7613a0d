// Contract: a durable store keeps its data when it is closed and opened again.
import { describe, expect, it } from 'vitest';
import { answer, header, MANY, start } from './store-samples.contract.ts';
import type { StoreUnderTest } from './store.contract.ts';
import type { FlowStore } from './store.ts';

export function outlivesItsProcess(name: string, make: () => Promise<Required<StoreUnderTest>>): void {
  const reopened = async (before: (store: FlowStore) => Promise<void>, after: (store: FlowStore) => Promise<void>) => {
    const { store, again, end } = await make();
    try {
      expect(store.durable).toBe(true);
      await before(store);
      await store.close();
      const later = await again();
      await after(later);
      await later.close();
    } finally {
      await end();
    }
  };

  describe(`${name}: closed and opened again`, () => {
    it('has the sessions, their answers and their ends', async () => {
      const [open, over] = [header({ expiresAt: 1000 }), header()];
      await reopened(
        async (store) => {
          await store.create(open, [start], MANY);
          await store.commit(open.id, 1, { patch: { prompts: 1 }, add: [answer('city', 'Paris')], dueAt: 500 });
          await store.create(over, [start], MANY);
          await store.commit(over.id, 1, { patch: { state: 'completed' } });
        },
        async (store) => {
          expect(await store.load(open.id)).toEqual({
            header: { ...open, prompts: 1, rev: 2 },
            entries: [start, answer('city', 'Paris')],
          });
          expect(await store.load(over.id)).toEqual({ header: { ...over, state: 'completed', rev: 2 }, entries: [] });
          expect(await store.due(500, 10)).toEqual([open.id]);
          expect((await store.list(open.principal)).map(({ id }) => id)).toEqual([open.id]);
        },
      );
    });

    it('has the same salt, and another store has another one', async () => {
      let salt: string | undefined;
      await reopened(
        async (store) => void (salt = store.salt),
        async (store) => expect(store.salt).toBe(salt),
      );
      expect(salt).toMatch(/^[0-9a-f]{16}$/);
      await reopened(
        async (store) => expect(store.salt).not.toBe(salt),
        async () => {},
      );
    });

    it('still counts what is open', async () => {
      const limits = { perPrincipal: 2, total: 3 };
      await reopened(
        async (store) => {
          await store.create(header(), [], limits);
          await store.create(header(), [], limits);
        },
        async (store) => {
          expect(await store.create(header(), [], limits)).toBe('limit');
          expect(await store.create(header({ principal: 'b' }), [], limits)).toBe('ok');
          expect(await store.create(header({ principal: 'c' }), [], limits)).toBe('limit');
        },
      );
    });

    it('knows leases, fences, spent turns and blobs', async () => {
      const made = header();
      let fence = 0;
      await reopened(
        async (store) => {
          await store.create(made, [start], MANY);
          fence = (await store.lease(made.id, 'a', 60_000))!.fence;
          await store.spend(made.id, 1, 60_000);
          await store.putBlob('hash', Buffer.from('bytes'), 60_000);
        },
        async (store) => {
          expect(await store.lease(made.id, 'b', 60_000)).toBeUndefined();
          expect((await store.lease(made.id, 'a', 60_000))!.fence).toBeGreaterThan(fence);
          expect((await store.commit(made.id, 1, { patch: {}, fence })).ok).toBe(false);
          expect(await store.spend(made.id, 1, 60_000)).toBe(false);
          expect(Buffer.from((await store.getBlob('hash'))!).toString()).toBe('bytes');
        },
      );
    });

    it('takes up what was asked for just before the close', async () => {
      const made = header();
      await reopened(
        async (store) => {
          const asked = store.create(made, [start], MANY);
          await store.close();
          expect(await asked).toBe('ok');
          await expect(store.load(made.id)).rejects.toThrow(/closed/);
        },
        async (store) => expect(await store.load(made.id)).toEqual({ header: made, entries: [start] }),
      );
    });
  });
}
