import { expect, test } from 'vitest';
import { FakeClock } from '../../../mcp/eras/fake-context.contract.ts';
import { ElicitationCompletions } from './page-visits.ts';

test('a waiting call continues when all pages were visited, also before it waited', async () => {
  const completions = new ElicitationCompletions(new FakeClock());
  completions.complete('a');
  let isOver = false;
  const waiting = completions.wait(['a', 'b'], new AbortController().signal, 0).then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  completions.complete('b');
  await waiting;
});

test('it continues after a while, later each time', async () => {
  const clock = new FakeClock();
  const completions = new ElicitationCompletions(clock);
  for (const [attempt, ms] of [15_000, 30_000, 60_000, 120_000, 120_000].entries()) {
    let isOver = false;
    const waiting = completions.wait(['a'], new AbortController().signal, attempt).then(() => (isOver = true));
    clock.advance(ms - 1);
    await Promise.resolve();
    expect(isOver).toBe(false);
    clock.advance(1);
    await Promise.resolve();
    await waiting;
  }
});

test('a call that is cancelled does not wait', async () => {
  const completions = new ElicitationCompletions(new FakeClock());
  const controller = new AbortController();
  const waiting = completions.wait([], controller.signal, 0);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect(completions.wait(['a'], controller.signal, 0)).rejects.toMatchObject({ code: 'CANCELLED' });
});
