// What every state does, in memory or elsewhere.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { State } from './state.ts';

export interface StateUnderTest {
  state: State;
  /** Another handle on the same state, as another gateway has it. */
  again: () => Promise<State>;
  /** Lets so much time pass. */
  pass: (ms: number) => Promise<unknown>;
}

const MINUTE = 60_000;

export function keepsTheStateContract(name: string, open: () => Promise<StateUnderTest>): void {
  describe(`the state in ${name}`, () => {
    let under: StateUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.state.close());

    it('a key can be taken once within its time, by the first who comes', async () => {
      const other = await under.again();
      expect([await under.state.take('a', MINUTE), await under.state.take('a', MINUTE)]).toEqual([true, false]);
      expect([await other.take('a', MINUTE), await other.take('b', MINUTE)]).toEqual([false, true]);
      expect(await under.state.take('b', MINUTE)).toBe(false);
    });

    it('one of many callers who take a key at once gets it', async () => {
      const handles = [under.state, await under.again(), await under.again()];
      const taken = await Promise.all(Array.from({ length: 60 }, (_, n) => handles[n % 3]!.take('one', MINUTE)));
      expect(taken.filter(Boolean)).toHaveLength(1);
    });

    it('a key can be taken again when its time is over, and no other key with it', async () => {
      await under.state.take('long', MINUTE);
      expect(await under.state.take('short', 20)).toBe(true);
      await under.pass(40);
      expect(await under.state.take('short', MINUTE)).toBe(true);
      expect(await under.state.take('short', MINUTE)).toBe(false);
      expect(await under.state.take('long', MINUTE)).toBe(false);
    });

    it('keys of any length and any characters are different keys', async () => {
      const keys = ['', ' ', 'a\0b', 'a', 'é', '{parley}t:a', 'x'.repeat(10_000), `${'x'.repeat(10_000)}y`];
      for (const key of keys) expect(await under.state.take(key, MINUTE)).toBe(true);
      for (const key of keys) expect(await under.state.take(key, MINUTE)).toBe(false);
    });
  });
}
