import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { Sessions } from '../session/sessions.ts';

const me = { principal: 'me' };

/** All that a body can see of the world. */
function world(ask: Ask): unknown[] {
  return [
    Date.now(),
    new Date().toISOString(),
    Date(),
    new Date(0).getTime(),
    ask.now(),
    ask.today(),
    Math.random(),
    ask.random(),
    ask.uuid(),
    crypto.randomUUID(),
    randomUUID(),
    randomBytes(4).toString('hex'),
    ...crypto.getRandomValues(new Uint8Array(4)),
  ];
}

describe('time and randomness in a body', () => {
  it('are the same in every run, and move on with what happens', async () => {
    const clock = manualClock();
    const seen: unknown[][] = [];
    const body = flow({ name: 'x' }, async (ask) => {
      seen.push(world(ask));
      await ask.text('a');
      seen.push(world(ask));
      await ask.text('b');
    });
    const sessions = new Sessions([body], { clock });
    const began = clock.now();
    const { header } = await sessions.start({ ...me, tool: 'x' });
    clock.move(5000);
    await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 'x' }] });
    clock.move(5000);
    await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 'y' }] });
    const [first, again, after, third, last] = seen;
    expect(again).toEqual(first);
    expect(third).toEqual(first);
    expect(last).toEqual(after);
    expect([first?.[0], after?.[0]]).toEqual([began, began + 5000]);
    expect(after?.slice(6)).not.toEqual(first?.slice(6));
  });

  it('are left alone everywhere else, also while a body runs', async () => {
    const clock = manualClock(1000);
    let inStep = 0;
    const body = flow({ name: 'x' }, async (ask) => {
      const mine = Date.now();
      await ask.step('real', async () => {
        await Promise.resolve();
        inStep = Date.now();
      });
      return mine;
    });
    const outside: number[] = [];
    const state = { running: true };
    const watch = async () => {
      while (state.running) {
        outside.push(Date.now());
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const watching = watch();
    const sessions = new Sessions([body], { clock });
    const { result } = await sessions.start({ ...me, tool: 'x' });
    state.running = false;
    await watching;
    expect(result).toBe(1000);
    expect(inStep).toBeGreaterThan(1_600_000_000_000);
    expect(outside.every((time) => time > 1_600_000_000_000)).toBe(true);
    expect(new Date()).toBeInstanceOf(Date);
    expect(Math.random()).not.toBe(Math.random());
  });

  it('cannot be guessed from what was seen of another session', async () => {
    const body = flow({ name: 'x' }, async (ask) => [ask.uuid(), Math.random()]);
    const sessions = new Sessions([body]);
    const results = await Promise.all(Array.from({ length: 20 }, () => sessions.start({ ...me, tool: 'x' })));
    expect(new Set(results.map(({ result }) => JSON.stringify(result))).size).toBe(20);
  });
});
