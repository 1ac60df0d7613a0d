// What every store must keep, run by the test of each one against a real instance. Nothing here knows how a store works, or
// moves its clock: where time has to pass, spans are short and the test waits for what must follow.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import { answer, ended, header, MANY, start } from './store-samples.contract.ts';
import type { FlowStore } from './store.ts';

export interface StoreUnderTest {
  store: FlowStore;
  /** Another handle on the same data, as another process has it. */
  again?: () => Promise<FlowStore>;
  end(): Promise<void>;
}

export function keepsTheContract(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`${name}: what every store keeps`, () => {
    let subject: StoreUnderTest;
    let store: FlowStore;
    beforeEach(async () => {
      subject = await make();
      store = subject.store;
    });
    afterEach(() => subject.end());
    const stored = async (over: Parameters<typeof header>[0] = {}) => {
      const made = header(over);
      expect(await store.create(made, [start], MANY)).toBe('ok');
      return made;
    };

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
        expect(await store.commit(made.id, 2, { patch, add: [{ t: 'end', v: 1, ts: 1 }] })).toEqual({
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

      it('run out, and whoever comes late is fenced off', async () => {
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

      it('leaves out what somebody holds', async () => {
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

    describe('blobs', () => {
      it.each([0, 1, 256, 1_048_576])('come back byte for byte: %i', async (size) => {
        const bytes = Uint8Array.from({ length: size }, (_, index) => index % 256);
        await store.putBlob('hash', bytes, 60_000);
        const found = (await store.getBlob('hash'))!;
        expect(found).toBeInstanceOf(Uint8Array);
        expect(Buffer.compare(found, bytes)).toBe(0);
      });

      it('go after their time, the longest that was asked for', async () => {
        await store.putBlob('short', Buffer.from('a'), 30);
        await store.putBlob('long', Buffer.from('b'), 60_000);
        await store.putBlob('long', Buffer.from('b'), 30);
        await store.putBlob('longer', Buffer.from('c'), 30);
        await store.putBlob('longer', Buffer.from('c'), 60_000);
        await until('the blob to go', async () => (await store.getBlob('short')) === undefined);
        expect(await store.getBlob('long')).toBeDefined();
        expect(await store.getBlob('longer')).toBeDefined();
      });
    });

    describe('odd and large', () => {
      it.each([
        ['strings', ['', 'a\0b', '\ud800', '\udfff\ud800', '😀', '\u2028"\\\n', "'); --", '{"t":"x"}', '%s $1 \u0007']],
        ['numbers', [0, -1, 1.5, 1e300, 5e-324, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]],
        ['shapes', [null, [], {}, [[]], [{}], [null], { '': 1, a: { b: { c: [] } } }, true, false]],
        ['keys', [JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "a.b": 3, "\\u0000": 4}')]],
      ])('come back as they were: %s', async (_, values) => {
        const made = await stored({ current: values, tool: 'odd "tool" \0 \ud800', locale: '💬' });
        const entries = values.map((value, index) => answer(`k${index}#"\0`, value));
        await store.commit(made.id, 1, { patch: { reason: '\ud800\0' }, add: entries });
        const found = (await store.load(made.id))!;
        expect(found.header).toEqual({ ...made, reason: '\ud800\0', rev: 2 });
        expect(found.entries).toEqual([start, ...entries]);
        expect(JSON.stringify(found.entries)).toBe(JSON.stringify([start, ...entries]));
      });

      it('holds a journal of a megabyte', async () => {
        const made = await stored();
        const big = answer('text', 'ü'.repeat(250_000));
        await store.commit(made.id, 1, { patch: {}, add: [big, big] });
        const small = Array.from({ length: 1000 }, (_, index) => answer(`k${index}`, index));
        await store.commit(made.id, 2, { patch: {}, add: small });
        const { entries } = (await store.load(made.id))!;
        expect(entries).toEqual([start, big, big, ...small]);
      });

      it('keeps the order over many commits', async () => {
        const made = await stored();
        for (let rev = 1; rev <= 150; rev++)
          await store.commit(made.id, rev, { patch: { prompts: rev }, add: [answer(`k${rev}`, rev)] });
        const { header: found, entries } = (await store.load(made.id))!;
        expect(found).toMatchObject({ prompts: 150, rev: 151 });
        expect(entries.slice(1).map((entry) => 'v' in entry && entry.v)).toEqual(
          Array.from({ length: 150 }, (_, index) => index + 1),
        );
      });
    });

    it('may be closed twice', async () => {
      await store.close();
      await store.close();
    });
  });
}
