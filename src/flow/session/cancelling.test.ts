// Sessions that end while a step runs: the step stops, and effects are undone if possible.
import { describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import { flow } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { Sessions } from './sessions.ts';

const me = { principal: 'me' };

/** Two processes over one store; the first runs a step after an effect that can be undone. */
async function atWork() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const undone: string[] = [];
  let aborted = 0;
  const idle = (): void => {};
  let finish = idle;
  const tool = flow({ name: 'x', limits: { duration: '10m' } }, async (ask) => {
    await ask.text('a');
    await ask.step('book', () => 'seat 3', { effect: 'retry', undo: (seat) => void undone.push(seat) });
    const work = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        finish = resolve;
        signal.addEventListener('abort', () => void aborted++);
      });
    await ask.step('work', (step) => work(step.signal), { effect: 'retry', timeout: '9m' });
  });
  const process = () => new Sessions([tool], { clock, store, log: createLog({ level: 'silent' }) });
  const [first, second] = [process(), process()];
  const { header } = await first.start({ ...me, tool: 'x' });
  const session = { ...me, sessionId: header.id };
  await first.answer({ ...session, answers: [{ value: 'x' }] });
  await until('the step to begin', () => finish !== idle);
  return { clock, store, first, second, session, undone, aborted: () => aborted, finish: () => finish() };
}

describe('a session at work', () => {
  it('is cancelled, stops, and undoes its effect', async () => {
    const { first, session, undone, aborted } = await atWork();
    expect(await first.cancel(session)).toMatchObject({ header: { state: 'cancelled' } });
    expect({ undone, aborted: aborted() }).toEqual({ undone: ['seat 3'], aborted: 1 });
    await expect(first.cancel(session)).rejects.toMatchObject({ code: 'FLOW_ALREADY_CANCELLED' });
  });

  it('is cancelled from another process, and undoes its effect once it has stopped', async () => {
    const { clock, store, second, session, undone, finish } = await atWork();
    expect(await second.cancel(session)).toMatchObject({ header: { state: 'cancelled' } });
    expect((await second.getState(session)).header.state).toBe('cancelled');
    await expect(second.cancel(session)).rejects.toMatchObject({ code: 'FLOW_ALREADY_CANCELLED' });
    expect(undone).toEqual([]);
    finish();
    await until('it to be wiped', async () => {
      clock.move(1000);
      await second.sweep();
      return (await store.load(session.sessionId))?.header.state === 'cancelled';
    });
    expect(undone).toEqual(['seat 3']);
  });

  it('expires, stops, and undoes its effect', async () => {
    const { clock, first, session, undone, aborted } = await atWork();
    clock.move(10 * 60_000 + 1);
    await first.sweep();
    await until('the effect to be taken back', () => undone.length > 0);
    await expect(first.getState(session)).rejects.toMatchObject({ code: 'FLOW_SESSION_EXPIRED' });
    expect({ undone, aborted: aborted() }).toEqual({ undone: ['seat 3'], aborted: 1 });
  });
});
