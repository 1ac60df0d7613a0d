import { describe, expect, it } from 'vitest';
import { forgetStrays, withoutStrays } from './stray-promises.ts';

/** Node reports a rejection that nobody handles once the microtasks are done. */
async function unhandledBy(work: () => unknown): Promise<unknown[]> {
  const before = process.listeners('unhandledRejection');
  const seen: unknown[] = [];
  const note = (reason: unknown) => void seen.push(reason);
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
  work();
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.removeAllListeners('unhandledRejection');
  for (const listener of before) process.on('unhandledRejection', listener);
  return seen;
}

const dropped = () => {
  void Promise.reject(new Error('dropped'));
  return 7;
};

describe('a promise that foreign code drops', () => {
  it('a promise that foreign code drops is reported by Node if it rejects, unless it was made in here', async () => {
    expect(await unhandledBy(dropped)).toHaveLength(1);
    expect(await unhandledBy(() => withoutStrays(dropped))).toEqual([]);
    expect(await unhandledBy(() => withoutStrays(() => withoutStrays(dropped)))).toEqual([]);
  });

  it('a promise that foreign code drops is also handled if the code throws', async () => {
    const work = () => {
      dropped();
      throw new Error('thrown');
    };
    expect(await unhandledBy(() => expect(() => withoutStrays(work)).toThrow('thrown'))).toEqual([]);
  });

  it('a promise that foreign code drops is handled after code that was ended in the middle, too, and later ones are not kept', async () => {
    withoutStrays(() => forgetStrays());
    expect(await unhandledBy(() => withoutStrays(dropped))).toEqual([]);
    expect(await unhandledBy(dropped)).toHaveLength(1);
  });

  it('a promise that foreign code drops does not hide one that is made later', async () => {
    withoutStrays(() => 7);
    expect(await unhandledBy(dropped)).toHaveLength(1);
  });
});
