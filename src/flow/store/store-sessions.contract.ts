// Contract: creating, changing, ending and remembering sessions.
import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import { answer, ended, header, MANY, start } from './store-samples.contract.ts';
import type { FlowStore } from './store.ts';
import type { Stored } from './store.contract.ts';

export function keepsSessions(subject: Stored): void {
  let store: FlowStore;
  beforeEach(() => {
    store = subject.store;
  });
  const stored: Stored['stored'] = (over) => subject.stored(over);

  describe('create and load', () => {
    it('gives back what was created', async () => {
      const made = await stored({ locale: 'de', current: [{ key: 'city', message: 'Where to?' }] });
      expect(await store.load(made.id)).toEqual({ header: made, entries: [start] });
    });

    it('refuses an id that is there and leaves it as it was', async () => {
      const made = await stored();
      expect(await store.create(header({ id: made.id, tool: 'other' }), [], MANY)).toBe('exists');
      expect(await store.load(made.id)).toEqual({ header: made, entries: [start] });
    });

    it('says that an id is there even when no more may be', async () => {
      const made = await stored();
      const none = { perPrincipal: 0, total: 0 };
      expect(await store.create(header({ id: made.id }), [], none)).toBe('exists');
      expect(await store.create(header(), [], none)).toBe('limit');
    });

    it.each(['', 'session_', '\0', '{a}', '*', "'; --", '../..', '😀', '\ud800', 'x'.repeat(10_000)])(
      'knows nothing of an id that was never given: %j',
      async (id) => {
        await stored();
        expect(await store.load(id)).toBeUndefined();
        expect(await store.commit(id, 1, { patch: { state: 'active' } })).toEqual({ ok: false, header: undefined });
        expect(await store.lease(id, 'a', 1000)).toBeUndefined();
        await store.release(id, 'a');
        await store.drop(id);
        expect(await store.list(id)).toEqual([]);
        expect(await store.getBlob(id)).toBeUndefined();
      },
    );

    it('shares nothing with its callers', async () => {
      const made = header({ current: [{ key: 'city' }] });
      const entry = answer('city', { name: 'Paris' });
      await store.create(made, [start, entry], MANY);
      made.current.push('later');
      (entry.v as { name: string }).name = 'Rome';
      const first = (await store.load(made.id))!;
      expect(first.header.current).toEqual([{ key: 'city' }]);
      expect(first.entries[1]).toMatchObject({ v: { name: 'Paris' } });
      first.header.state = 'error';
      first.entries.length = 0;
      const second = (await store.load(made.id))!;
      expect(second.header.state).toBe('idle');
      expect(second.entries).toHaveLength(2);
    });
  });

  describe('commit', () => {
    it('applies the patch and adds the entries, in order', async () => {
      const made = await stored();
      const [one, two] = [answer('city', 'Paris'), answer('day', '2026-05-15')];
      expect(await store.commit(made.id, 1, { patch: { state: 'waiting_user', prompts: 1 }, add: [one] })).toEqual({
        ok: true,
        rev: 2,
      });
      expect(await store.commit(made.id, 2, { patch: { prompts: 2, locale: 'fr' }, add: [two] })).toEqual({
        ok: true,
        rev: 3,
      });
      expect(await store.load(made.id)).toEqual({
        header: { ...made, state: 'waiting_user', prompts: 2, locale: 'fr', rev: 3 },
        entries: [start, one, two],
      });
    });

    it('takes an empty patch, no entries, and a value that goes away', async () => {
      const made = await stored({ reason: 'soon' });
      expect(await store.commit(made.id, 1, { patch: {} })).toEqual({ ok: true, rev: 2 });
      expect(await store.commit(made.id, 2, { patch: { reason: undefined } })).toEqual({ ok: true, rev: 3 });
      const { header: found, entries } = (await store.load(made.id))!;
      expect(found.reason).toBeUndefined();
      expect(found).toEqual({ ...made, rev: 3, reason: undefined });
      expect(entries).toEqual([start]);
    });

    it('refuses an old rev, tells what is there, and changes nothing', async () => {
      const made = await stored();
      await store.commit(made.id, 1, { patch: { prompts: 1 }, add: [answer('city', 'Paris')] });
      const before = await store.load(made.id);
      for (const rev of [0, 1, 3, -1]) {
        const refused = await store.commit(made.id, rev, { patch: { prompts: 9 }, add: [answer('city', 'Rome')] });
        expect(refused).toEqual({ ok: false, header: before!.header });
      }
      expect(await store.load(made.id)).toEqual(before);
    });

    it('never changes whose session it is, which, since when', async () => {
      const made = await stored();
      await store.commit(made.id, 1, {
        patch: { id: 'session_x', principal: 'x', rev: 77, createdAt: 1, prompts: 1 },
      });
      expect((await store.load(made.id))!.header).toEqual({ ...made, prompts: 1, rev: 2 });
      expect(await store.load('session_x')).toBeUndefined();
      expect(await store.list('x')).toEqual([]);
    });
  });

  describe('the end of a session', () => {
    it.each(ended)('wipes what was said and keeps that it was there: %s', async (state) => {
      const made = await stored({ current: ['question'] });
      await store.commit(made.id, 1, { patch: { prompts: 1 }, add: [answer('city', 'Paris')] });
      const pending = { kind: 'edit', entry: answer('city', 'Rome') } as const;
      const patch = { state, reason: 'because', current: ['left over'], pending };
      expect(await store.commit(made.id, 2, { patch, add: [{ t: 'end', why: 'cancelled', ts: 1 }] })).toEqual({
        ok: true,
        rev: 3,
      });
      const { header: found, entries } = (await store.load(made.id))!;
      expect(found).toEqual({ ...made, state, reason: 'because', current: [], prompts: 1, rev: 3 });
      expect(entries).toEqual([]);
    });

    it('is final', async () => {
      const made = await stored();
      await store.commit(made.id, 1, { patch: { state: 'cancelled' } });
      const before = (await store.load(made.id))!;
      const later = await store.commit(made.id, 2, {
        patch: { state: 'active', prompts: 4 },
        add: [answer('city', 'Paris')],
      });
      expect(later).toEqual({ ok: false, header: before.header });
      expect(await store.load(made.id)).toEqual(before);
      expect(await store.lease(made.id, 'a', 1000)).toBeUndefined();
      expect(await store.create(header({ id: made.id }), [], MANY)).toBe('exists');
    });

    it('is forgotten after its time', async () => {
      const made = await stored();
      await store.commit(made.id, 1, { patch: { state: 'completed' }, tombstoneMs: 30 });
      await until('the tombstone to go', async () => (await store.load(made.id)) === undefined);
      expect(await store.commit(made.id, 2, { patch: {} })).toEqual({ ok: false, header: undefined });
      expect(await store.create(header({ id: made.id }), [start], MANY)).toBe('ok');
      expect((await store.load(made.id))!.entries).toEqual([start]);
    });

    it('can be wiped at once', async () => {
      const made = await stored();
      expect(await store.commit(made.id, 1, { patch: { state: 'completed' }, tombstoneMs: 0 })).toEqual({
        ok: true,
        rev: 2,
      });
      expect(await store.load(made.id)).toBeUndefined();
    });
  });
}
