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
const SIX_A_MINUTE = { count: 6, perMs: MINUTE };
const ODD = ['', ' ', 'a\0b', 'a', 'é', '{parley}t:a', '__proto__', 'x'.repeat(10_000), `${'x'.repeat(10_000)}y`];

export function keepsTheStateContract(name: string, open: () => Promise<StateUnderTest>): void {
  describe(`the state in ${name}`, () => {
    let under: StateUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.state.close());

    keepsRows(() => under);
    takesKeys(() => under);
    drawsRates(() => under);
    leases(() => under);
  });
}

function keepsRows(under: () => StateUnderTest): void {
  it('a value that was put is what all who share the state get, until it is removed', async () => {
    const { state, again } = under();
    const other = await again();
    expect(await state.get('s', 'a')).toBeUndefined();
    const version = await state.put('s', 'a', 'one', { version: 0 });
    expect(version).toBeGreaterThan(0);
    expect(await other.get('s', 'a')).toEqual({ value: 'one', version });
    expect(await other.get('t', 'a')).toBeUndefined();
    expect([await other.remove('s', 'a'), await other.remove('s', 'a')]).toEqual([true, false]);
    expect(await state.get('s', 'a')).toBeUndefined();
  });

  it('a value is changed only by one who has read its last version', async () => {
    const { state, again } = under();
    const other = await again();
    const first = await state.put('s', 'a', 'one', { version: 0 });
    expect(await other.put('s', 'a', 'two', { version: 0 })).toBeUndefined();
    const second = await other.put('s', 'a', 'two', { version: first! });
    expect(second).toBeGreaterThan(first!);
    expect(await state.put('s', 'a', 'three', { version: first! })).toBeUndefined();
    expect(await state.remove('s', 'a', { version: first! })).toBe(false);
    expect(await state.get('s', 'a')).toEqual({ value: 'two', version: second });
    expect(await state.remove('s', 'a', { version: second! })).toBe(true);
  });

  it('a key that was removed and put again has another version', async () => {
    const { state } = under();
    const first = await state.put('s', 'a', 'one', { version: 0 });
    await state.remove('s', 'a');
    expect(await state.put('s', 'a', 'one', { version: first! })).toBeUndefined();
    expect(await state.put('s', 'a', 'one', { version: 0 })).toBeGreaterThan(first!);
  });

  it('one of many who change a value at once succeeds, and no change is lost if all try again', async () => {
    const { state, again } = under();
    const handles = [state, await again(), await again()];
    const add = async (handle: State): Promise<void> => {
      const kept = await handle.get('s', 'count');
      const next = String(Number(kept?.value ?? 0) + 1);
      if (!(await handle.put('s', 'count', next, { version: kept?.version ?? 0 }))) await add(handle);
    };
    const racing = await Promise.all(handles.map((handle) => handle.put('s', 'once', 'x', { version: 0 })));
    expect(racing.filter((version) => version !== undefined)).toHaveLength(1);
    await Promise.all(Array.from({ length: 12 }, (_, n) => add(handles[n % 3]!)));
    expect((await state.get('s', 'count'))?.value).toBe('12');
  });

  it('a list has all values of its set, and no others', async () => {
    const { state } = under();
    expect(await state.list('s')).toEqual(new Map());
    for (const key of ODD) await state.put('s', key, `value of ${key}`, { version: 0 });
    await state.put('t', 'other', 'x', { version: 0 });
    await state.remove('s', 'a');
    const listed = await state.list('s');
    const keys = ODD.filter((key) => key !== 'a');
    expect(new Map([...listed].map(([key, { value }]) => [key, value]))).toEqual(
      new Map(keys.map((key) => [key, `value of ${key}`])),
    );
    expect(listed.get('é')).toEqual(await state.get('s', 'é'));
  });

  it('a value is gone when its time is over, and one without a time stays', async () => {
    const { state, pass } = under();
    await state.put('s', 'short', 'x', { version: 0, ttlMs: 20 });
    await state.put('s', 'long', 'x', { version: 0, ttlMs: MINUTE });
    const first = await state.put('s', 'kept', 'x', { version: 0, ttlMs: 900 });
    await state.put('s', 'kept', 'y', { version: first! });
    await pass(950);
    expect(await state.get('s', 'short')).toBeUndefined();
    expect([...(await state.list('s')).keys()].toSorted()).toEqual(['kept', 'long']);
    expect(await state.put('s', 'short', 'x', { version: 0 })).toBeGreaterThan(0);
  });

  it('one who watches a set notices what another gateway puts and removes', async () => {
    const { state, again } = under();
    const other = await again();
    let [count, noticed] = [0, (): void => {}];
    const end = state.watch('s', () => {
      count++;
      noticed();
    });
    const until = async (isThere: boolean): Promise<void> => {
      const before = count;
      if (((await state.get('s', 'a')) !== undefined) === isThere) return;
      if (count === before) await new Promise<void>((resolve) => (noticed = resolve));
      await until(isThere);
    };
    const arrives = until(true);
    await other.put('s', 'a', 'x', { version: 0 });
    await arrives;
    const goes = until(false);
    await other.remove('s', 'a');
    await goes;
    end();
  });
}

function takesKeys(under: () => StateUnderTest): void {
  it('a key can be taken once within its time, by the first who comes', async () => {
    const { state, again } = under();
    const other = await again();
    expect([await state.take('a', MINUTE), await state.take('a', MINUTE)]).toEqual([true, false]);
    expect([await other.take('a', MINUTE), await other.take('b', MINUTE)]).toEqual([false, true]);
    expect(await state.take('b', MINUTE)).toBe(false);
  });

  it('one of many callers who take a key at once gets it', async () => {
    const { state, again } = under();
    const handles = [state, await again(), await again()];
    const taken = await Promise.all(Array.from({ length: 60 }, (_, n) => handles[n % 3]!.take('one', MINUTE)));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('a key can be taken again when its time is over, and no other key with it', async () => {
    const { state, pass } = under();
    await state.take('long', MINUTE);
    expect(await state.take('short', 20)).toBe(true);
    await pass(40);
    expect(await state.take('short', MINUTE)).toBe(true);
    expect(await state.take('short', MINUTE)).toBe(false);
    expect(await state.take('long', MINUTE)).toBe(false);
  });

  it('keys of any length and any characters are different keys', async () => {
    const { state } = under();
    for (const key of ODD) expect(await state.take(key, MINUTE)).toBe(true);
    for (const key of ODD) expect(await state.take(key, MINUTE)).toBe(false);
  });
}

function drawsRates(under: () => StateUnderTest): void {
  it('a rate grants as much as it allows, to all together, and then says how long to wait', async () => {
    const { state, again } = under();
    const handles = [state, await again(), await again()];
    const draws = await Promise.all(Array.from({ length: 12 }, (_, n) => handles[n % 3]!.draw('a', SIX_A_MINUTE, 1)));
    expect(draws.filter(({ granted }) => granted === 1)).toHaveLength(6);
    const { granted, waitMs } = await state.draw('a', SIX_A_MINUTE, 1);
    expect(granted).toBe(0);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(MINUTE / 6);
    expect(await state.draw('b', SIX_A_MINUTE, 1)).toEqual({ granted: 1, waitMs: 0 });
  });

  it('a draw of several gets what is left', async () => {
    const { state } = under();
    expect(await state.draw('a', SIX_A_MINUTE, 4)).toEqual({ granted: 4, waitMs: 0 });
    expect(await state.draw('a', SIX_A_MINUTE, 4)).toEqual({ granted: 2, waitMs: 0 });
    expect((await state.draw('a', SIX_A_MINUTE, 4)).granted).toBe(0);
  });

  it('a rate grants one more after each of its steps', async () => {
    const { state, pass } = under();
    const rate = { count: 2, perMs: 80 };
    expect((await state.draw('short', rate, 5)).granted).toBe(2);
    await pass(100);
    expect((await state.draw('short', rate, 5)).granted).toBe(2);
  });
}

function leases(under: () => StateUnderTest): void {
  it('a lease is held by one at a time, and each later one has a higher fence', async () => {
    const { state, again } = under();
    const other = await again();
    const first = (await state.lease('a', MINUTE))!;
    expect(first.isSure()).toBe(true);
    expect([await state.lease('a', MINUTE), await other.lease('a', MINUTE)]).toEqual([undefined, undefined]);
    const elsewhere = (await other.lease('b', MINUTE))!;
    await first.release();
    const second = (await other.lease('a', MINUTE))!;
    expect(second.fence).toBeGreaterThan(first.fence);
    expect([first.isSure(), second.isSure()]).toEqual([false, true]);
    await first.release(); // takes nothing from the second
    expect(await state.lease('a', MINUTE)).toBeUndefined();
    await second.release();
    await elsewhere.release();
  });

  it('one of many who want a lease at once gets it', async () => {
    const { state, again } = under();
    const handles = [state, await again(), await again()];
    const got = await Promise.all(Array.from({ length: 15 }, (_, n) => handles[n % 3]!.lease('a', MINUTE)));
    const [lease, ...others] = got.filter((one) => one !== undefined);
    expect(others).toEqual([]);
    await lease!.release();
  });
}
