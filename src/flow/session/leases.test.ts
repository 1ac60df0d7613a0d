// Leases of running sessions: between turns of one process, and when the store is unavailable.
import { describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { flow } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import type { FlowStore } from '../store/store.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';

const me = { principal: 'me' };
const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

function working(over: Partial<FlowStore> = {}, leaseMs = 60, clock: Clock = systemClock) {
  let runs = 0;
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => (finish = resolve));
  const pay = flow({ name: 'pay', description: 'Pays' }, async (ask) => {
    await ask.text('who', { message: 'Who?' });
    await ask.step('pay', () => done.then(() => void runs++), { effect: 'retry' });
    await ask.text('more', { message: 'More?' });
  });
  const store: FlowStore = { ...bound(memoryStore()), ...over };
  const sessions = new Sessions([pay], { store, log: quiet, leaseMs, clock });
  return { sessions, store, finish, runs: () => runs };
}

/** Its methods as plain functions, so that some can be replaced. */
function bound(store: FlowStore): FlowStore {
  return {
    durable: store.durable,
    create: (...args) => store.create(...args),
    load: (...args) => store.load(...args),
    commit: (...args) => store.commit(...args),
    lease: (...args) => store.lease(...args),
    release: (...args) => store.release(...args),
    due: (...args) => store.due(...args),
    spend: (...args) => store.spend(...args),
    putBlob: (...args) => store.putBlob(...args),
    getBlob: (...args) => store.getBlob(...args),
    list: (...args) => store.list(...args),
    drop: (...args) => store.drop(...args),
    close: () => store.close(),
  };
}

describe('a session at work', () => {
  it('is not disturbed by another answer that comes a moment too late, in the same process', async () => {
    const inner = bound(memoryStore());
    let held = (): void => {};
    const isHeld = new Promise<void>((resolve) => (held = resolve));
    let asked = 0;
    const { sessions, finish, runs } = working(
      {
        ...inner,
        // All have read the session as it was; the first is at work by the time the others want the lease.
        async lease(...args) {
          if (asked++ > 0) await isHeld;
          return inner.lease(...args);
        },
        async commit(...args) {
          const committed = await inner.commit(...args);
          held();
          return committed;
        },
      },
      60_000,
    );
    const { header } = await sessions.start({ ...me, tool: 'pay' });
    const answer = (value: string) =>
      sessions.answer({ ...me, sessionId: header.id, answers: [{ promptId: 'who~1', value }] });
    const answers = await Promise.allSettled([answer('Ann'), answer('Bob'), answer('Cid')]);
    finish();
    const accepted = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(accepted).toHaveLength(1);
    for (const turn of accepted) {
      expect(await settled(turn)).toMatchObject({ header: { state: 'waiting_user' }, questions: [{ key: 'more' }] });
    }
    expect(runs()).toBe(1);
    await sessions.close();
  });

  it('keeps its lease for as long as it works, and no longer', async () => {
    const clock = manualClock();
    const inner = bound(memoryStore({ clock }));
    let leased = 0;
    const { sessions, store, finish } = working(
      {
        ...inner,
        async lease(...args) {
          const lease = await inner.lease(...args);
          if (args[1] !== 'other') leased++;
          return lease;
        },
      },
      60,
      clock,
    );
    const { header } = await sessions.start({ ...me, tool: 'pay' });
    const turn = await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 'Ann' }] });
    // Much longer than one lease lasts, renewal by renewal.
    for (let renewals = 1; renewals <= 10; renewals++) {
      const before = leased;
      clock.move(20);
      await until('the lease to be renewed', () => leased > before);
      expect(await store.lease(header.id, 'other', 1)).toBeUndefined();
    }
    finish();
    await settled(turn);
    expect(await store.lease(header.id, 'other', 1)).toBeDefined();
    await sessions.close();
  });

  it('outlasts a store that is away for a while', async () => {
    let away = false;
    let refused = 0;
    const inner = bound(memoryStore());
    const gone = async (): Promise<never> => {
      refused++;
      throw new Error('away');
    };
    const { sessions, finish } = working({
      ...inner,
      lease: (...args) => (away ? gone() : inner.lease(...args)),
      due: (...args) => (away ? gone() : inner.due(...args)),
      release: (...args) => (away ? gone() : inner.release(...args)),
    });
    const { header } = await sessions.start({ ...me, tool: 'pay' });
    const turn = await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 'Ann' }] });
    away = true;
    await sessions.sweep();
    await until('renewals to fail', () => refused > 3);
    away = false;
    finish();
    expect((await settled(turn)).questions[0]?.key).toBe('more');
    await sessions.close();
  });
});

describe('a session at rest whose process has died before it released the lease', () => {
  it('takes the answer, and goes on with it once when the lease is over', async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    let runs = 0;
    const pay = flow({ name: 'pay' }, async (ask) => {
      await ask.text('who');
      await ask.step('pay', () => ++runs, { effect: 'retry' });
      return ask.text('more');
    });
    const sessions = new Sessions([pay], { store, clock, log: quiet, leaseMs: 1000 });
    const { header } = await sessions.start({ ...me, tool: 'pay' });
    const session = { ...me, sessionId: header.id };
    await store.lease(header.id, 'a process that is no more', 1000);
    const turn = await sessions.answer({ ...session, answers: [{ promptId: 'who~1', value: 'ada' }] });
    expect(turn).toMatchObject({ accepted: true });
    expect(runs).toBe(0);
    clock.move(1001);
    await sessions.sweep();
    await sessions.idle();
    const { header: after } = await sessions.getState(session);
    expect(after).toMatchObject({ state: 'waiting_user', current: [{ key: 'more' }] });
    expect(runs).toBe(1);
    await sessions.close();
  });
});
