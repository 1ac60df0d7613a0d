// For tests only: what holds for everything that waits for its owner, whatever it is and wherever it is kept.
import { describe, expect, it } from 'vitest';

interface OwnedThings {
  /** Returns the key. It counts against the limit of `caller`, and throws if that limit is reached. */
  add(owner: string, caller?: string): string;
  /** Whether the owner finds it, and it still waits. */
  has(key: string, owner: string): boolean;
  /** Its owner is done with it; absent if it stays until its time is over. */
  end?(key: string, owner: string): void;
  /** The keys of those that were given up, in order. */
  readonly expired: readonly string[];
  /** Lets so much time pass that everything that waits now is given up. */
  expire(): void | Promise<void>;
  /** Ends everything with the gateway; absent if they end with their clients. */
  close?(): void;
  /** Timers that are set. */
  timers?(): number;
}

/** `create` makes room for two of each caller, or of each owner. */
export function checkOwnedThings(name: string, create: () => OwnedThings, roomOf: 'caller' | 'owner' = 'caller'): void {
  const canEnd = create().end !== undefined;
  describe(`${name}, as everything that waits for its owner,`, () => {
    it('exist for their owner alone', () => {
      const things = create();
      const key = things.add('ada');
      expect(things.has(key, 'ada')).toBe(true);
      for (const other of ['bob', '', 'Ada', 'ada ', key]) expect(things.has(key, other)).toBe(false);
      for (const unknown of ['', 'x', '__proto__', 'constructor']) expect(things.has(unknown, 'ada')).toBe(false);
    });

    it('leave the room of others alone, however many one caller has', () => {
      const things = create();
      const others = [things.add('bob'), things.add('bob')];
      const own: string[] = [];
      const timers: (number | undefined)[] = [];
      for (let count = 0; count < 5; count++) {
        try {
          own.push(things.add('ada'));
        } catch (error) {
          expect(['TOO_MANY', 'FLOW_LIMIT']).toContain((error as { code?: string }).code);
        }
        timers.push(things.timers?.());
      }
      expect(timers[4], 'one that is refused leaves no timer').toBe(timers[1]);
      expect(own.filter((key) => things.has(key, 'ada'))).toHaveLength(2);
      expect(others.map((key) => things.has(key, 'bob'))).toEqual([true, true]);
    });

    (roomOf === 'owner' ? absent : it)('take the room of their caller, even if callers share an owner', () => {
      const things = create();
      const first = [things.add('local', 'a'), things.add('local', 'a')];
      const second = [things.add('local', 'b'), things.add('local', 'b')];
      expect([...first, ...second].map((key) => things.has(key, 'local'))).toEqual([true, true, true, true]);
    });

    (canEnd ? it : absent)('free their place when they end, also if they are ended twice', () => {
      const things = create();
      const [first, second] = [things.add('ada'), things.add('ada')];
      things.end!(first, 'ada');
      things.end!(first, 'ada');
      const third = things.add('ada');
      expect([first, second, third].map((key) => things.has(key, 'ada'))).toEqual([false, true, true]);
      expect(things.expired).toEqual([]);
    });

    it('owned things are given up once when their time is over, and free their place', async () => {
      const things = create();
      const keys = [things.add('ada'), things.add('ada'), things.add('bob')];
      await things.expire();
      expect(things.expired.toSorted()).toEqual(keys.toSorted());
      expect(keys.map((key) => things.has(key, 'ada') || things.has(key, 'bob'))).toEqual([false, false, false]);
      await things.expire();
      expect(things.expired).toHaveLength(3);
      const again = [things.add('ada'), things.add('ada')];
      expect(again.every((key) => things.has(key, 'ada'))).toBe(true);
    });

    (canEnd ? it : absent)('are not given up after their end, nor ended by an answer that is late', async () => {
      const things = create();
      const [ended, late] = [things.add('ada'), things.add('ada')];
      things.end!(ended, 'ada');
      await things.expire();
      things.end!(late, 'ada');
      expect(things.expired).toEqual([late]);
    });

    it('owned things are given up with the gateway, once, and leave no timer', async () => {
      const things = create();
      if (!things.close) return;
      const keys = [things.add('ada'), things.add('bob')];
      things.close();
      things.close();
      expect(things.expired.toSorted()).toEqual(keys.toSorted());
      expect(keys.map((key) => things.has(key, 'ada') || things.has(key, 'bob'))).toEqual([false, false]);
      expect(things.timers?.() ?? 0).toBe(0);
      await things.expire();
      expect(things.expired).toHaveLength(2);
    });
  });
}

/** A test of something that these things do not have. */
function absent(_name: string, _check: unknown): void {}
