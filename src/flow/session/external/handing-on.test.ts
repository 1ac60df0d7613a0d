// An event may arrive between the last write of the process that held its session and the end of that process's lease.
import { expect, it } from 'vitest';
import { until } from '../../../../tests/helpers/until.ts';
import type { Ask } from '../../authoring/ask.ts';
import { flow } from '../../define.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { CrashPoints, createCrashingStore } from '../../testing/test-stage.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { Sessions } from '../sessions.ts';

const me = { principal: 'me' };
const LEASE_MS = 1000;

/** A session whose process has done its step and waits for the event, and does not let go of its lease. */
async function beforeItLetsGo(body: (ask: Ask) => Promise<unknown>) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const slow = { ...createCrashingStore(store, new CrashPoints(), []), release: () => new Promise<never>(() => {}) };
  const tool = flow({ name: 'x', limits: { duration: '2d' } }, body);
  const log = createLog({ level: 'silent' });
  const first = new Sessions([tool], { clock, store: slow, leaseMs: LEASE_MS, log });
  const second = new Sessions([tool], { clock, store, leaseMs: LEASE_MS, log });
  const { header } = await first.start({ ...me, tool: 'x' });
  const stored = async () => (await store.load(header.id))!;
  await until('the session to be at rest', async () => {
    const now = (await stored()).header;
    return now.waits !== undefined && !now.busy;
  });
  return { clock, sessionId: header.id, nodes: [first, second] as const, stored };
}

const billed = async (ask: Ask) => {
  const paid = ask.event('paid');
  await ask.step('bill', () => 'billed', { effect: 'retry' });
  return paid;
};

it.each(['the same process', 'another one'])('an event that %s delivers then is asked about at once', async (where) => {
  const { sessionId, nodes, stored } = await beforeItLetsGo(async (ask) => [await billed(ask), await ask.text('note')]);
  await nodes[where === 'another one' ? 1 : 0].deliver({ sessionId, event: 'paid', value: 7 });
  expect((await stored()).header).toMatchObject({ state: 'waiting_user', current: [{ key: 'note' }] });
});

it('an event that leads to an effect is kept until the lease is over', async () => {
  const { clock, sessionId, nodes, stored } = await beforeItLetsGo(async (ask) => {
    const paid = await billed(ask);
    await ask.step('ship', () => 'shipped', { effect: 'retry' });
    return paid;
  });
  expect(await nodes[1].deliver({ sessionId, event: 'paid', value: 7 })).toEqual({ event: 'paid' });
  expect((await stored()).entries.filter(({ t }) => t === 'evt')).toMatchObject([{ k: 'paid', v: 7 }]);
  clock.move(LEASE_MS);
  await nodes[1].sweep();
  await until('the session to end', async () => (await stored()).header.state === 'completed');
});

it('an event is not forgotten while the body also waits for another one', async () => {
  const { clock, sessionId, nodes, stored } = await beforeItLetsGo(async (ask) => {
    const other = ask.event('other');
    const paid = await billed(ask);
    await ask.step('ship', () => 'shipped', { effect: 'retry' });
    return [paid, await other];
  });
  await nodes[1].deliver({ sessionId, event: 'paid', value: 7 });
  clock.move(LEASE_MS);
  await nodes[1].sweep();
  await until('the effect', async () =>
    (await stored()).entries.some((entry) => entry.t === 'step' && entry.k === 'ship'),
  );
});
