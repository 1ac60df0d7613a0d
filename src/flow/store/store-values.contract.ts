// Contract: unusual values and long journals come back unchanged.
import { beforeEach, describe, expect, it } from 'vitest';
import { answer, start } from './store-samples.contract.ts';
import type { FlowStore } from './store.ts';
import type { Stored } from './store.contract.ts';

export function keepsValues(subject: Stored): void {
  let store: FlowStore;
  beforeEach(() => {
    store = subject.store;
  });
  const stored: Stored['stored'] = (over) => subject.stored(over);

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
}
