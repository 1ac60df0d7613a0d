import { expect, it } from 'vitest';
import { FakeClock } from '../../mcp/eras/fake-context.contract.ts';
import { checkOwnedThings } from './owned-table.contract.ts';
import { MemoryOwnedTable } from './owned-table.ts';
import type { OwnedTableOptions } from './owned-table.ts';

const DAY_MS = 24 * 60 * 60_000;

function setUp(options: Partial<OwnedTableOptions<string, string>> = {}, clock = new FakeClock()) {
  const expired: string[] = [];
  const table = new MemoryOwnedTable<string, string>({
    clock,
    max: 2,
    lifeMs: 1000,
    toFull: () => Object.assign(new Error('full'), { code: 'TOO_MANY' }),
    onExpired: (value) => void expired.push(value),
    ...options,
  });
  return { clock, table, expired };
}

checkOwnedThings('values in a table', () => {
  const { clock, table, expired } = setUp();
  let count = 0;
  return {
    expired,
    add(owner, caller) {
      const key = `key-${++count}`;
      table.add(key, key, { owner, caller });
      return key;
    },
    has: (key, owner) => table.get(key, owner) === key,
    end: (key, owner) => void table.take(key, owner),
    expire: () => clock.advance(1000),
    close: () => table.clear(),
    timers: () => clock.timers,
  };
});

it('a value is taken once, and only by its owner', () => {
  const { table } = setUp();
  table.add('k', 'v', { owner: 'ada' });
  expect([table.take('k', 'bob'), table.take('k', 'ada'), table.take('k', 'ada')]).toEqual([undefined, 'v', undefined]);
});

it('a key that is taken is refused to everybody, and is free again afterwards', () => {
  const { table } = setUp();
  table.add('k', 'of ada', { owner: 'ada' });
  expect(() => table.add('k', 'of bob', { owner: 'bob' })).toThrow('taken');
  expect([table.get('k', 'ada'), table.get('k', 'bob'), table.size]).toEqual(['of ada', undefined, 1]);
  table.remove('k');
  table.add('k', 'of bob', { owner: 'bob' });
  expect([table.get('k', 'ada'), table.get('k', 'bob')]).toEqual([undefined, 'of bob']);
});

it('a value that is overdue is gone and makes room, even if its timer is late', () => {
  class LateClock extends FakeClock {
    late = 0;
    ticks(): number {
      return this.now() + this.late;
    }
  }
  const clock = new LateClock();
  const { table, expired } = setUp({}, clock);
  for (const key of ['a', 'b']) table.add(key, key, { owner: 'ada' });
  clock.late = 1000;
  expect(table.of('ada')).toEqual([]);
  table.add('c', 'c', { owner: 'ada' });
  expect([table.get('a', 'ada'), table.take('b', 'ada'), expired]).toEqual([undefined, undefined, ['a', 'b']]);
  table.renew('a');
  expect(table.peek('a')).toBeUndefined();
});

it('a table without places refuses everything', () => {
  const { table } = setUp({ max: 0 });
  expect(table.hasRoom('ada')).toBe(false);
  expect(() => table.add('k', 'v', { owner: 'ada' })).toThrow('full');
  expect(table.size).toBe(0);
});

it('a value that is renewed waits its whole time again, and each may have a time of its own', () => {
  const { clock, table, expired } = setUp();
  table.add('renewed', 'renewed', { owner: 'ada' });
  table.add('short', 'short', { owner: 'ada', ms: 300 });
  clock.advance(999);
  table.renew('renewed');
  clock.advance(999);
  expect([table.peek('renewed'), expired]).toEqual(['renewed', ['short']]);
  clock.advance(1);
  expect(expired).toEqual(['short', 'renewed']);
});

it('times longer than a timer can be are kept', () => {
  const { clock, table, expired } = setUp({ lifeMs: 40 * DAY_MS });
  table.add('k', 'v', { owner: 'ada' });
  for (let day = 0; day < 39; day++) clock.advance(DAY_MS);
  expect([table.get('k', 'ada'), expired]).toEqual(['v', []]);
  clock.advance(DAY_MS);
  expect([expired, clock.timers]).toEqual([['v'], 0]);
});

it('a tombstone is for the owner alone, also that of a value that was given up', () => {
  const { clock, table } = setUp({ tombstones: { max: 2 }, onExpired: (value) => `${value} expired` });
  table.add('ended', 'v', { owner: 'ada' });
  table.add('late', 'v', { owner: 'ada' });
  expect(table.tombstone('ended', 'ada')).toBeUndefined();
  expect([table.remove('ended', 'done'), table.remove('ended', 'done twice')]).toEqual([true, false]);
  clock.advance(1000);
  expect(['ended', 'late'].map((key) => table.tombstone(key, 'ada'))).toEqual(['done', 'v expired']);
  expect(['ended', 'late'].map((key) => table.tombstone(key, 'bob'))).toEqual([undefined, undefined]);
});

it('tombstones take no room, the oldest go first, and each is forgotten once', () => {
  const forgotten: string[] = [];
  const onForgotten = (key: string): void => void forgotten.push(key);
  const { clock, table } = setUp({ max: 1, tombstones: { max: 2, lifeMs: 500, onForgotten } });
  for (const key of ['a', 'b', 'c']) {
    table.add(key, key, { owner: 'ada' });
    table.remove(key, key);
    clock.advance(100);
  }
  expect([forgotten, table.tombstone('b', 'ada')]).toEqual([['a'], 'b']);
  clock.advance(300);
  expect([forgotten, table.tombstone('c', 'ada')]).toEqual([['a', 'b'], 'c']);
  clock.advance(100);
  clock.advance(1000);
  expect([forgotten, clock.timers]).toEqual([['a', 'b', 'c'], 0]);
});

it('what is given up may give up others and add new ones', () => {
  const { clock, table, expired } = setUp({
    onExpired(value) {
      expired.push(value);
      if (value === 'a') {
        table.remove('b');
        table.add('c', 'c', { owner: 'ada' });
      }
    },
  });
  for (const key of ['a', 'b']) table.add(key, key, { owner: 'ada' });
  clock.advance(1000);
  expect([expired, table.values()]).toEqual([['a'], ['c']]);
  table.clear();
  expect([expired, table.size]).toEqual([['a', 'c'], 0]);
});
