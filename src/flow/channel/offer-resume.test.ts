// What a call that went away has left, when its caller comes again.
import { expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import type { ManualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { until } from '../../../tests/helpers/until.ts';
import { reserveSessionId, offerResume } from './abandoned-sessions.ts';
import { CallReceipts } from './call-receipts.ts';

const start = { principal: 'me', tool: 'x', via: 'elicit' as const };
const { signal } = new AbortController();
const asked = { signal, canAsk: () => true, ask: async () => ({ action: 'accept', content: { resume: true } }) };
const exchange = asked as unknown as Exchange;

/** In a process that has ended since. */
async function left() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const body = flow({ name: 'x' }, async (ask) => {
    await ask.text('first', { alone: true });
    await ask.text('second', { alone: true });
  });
  const make = () => new Sessions([body], { clock, store });
  const sessions = make();
  const { header } = await sessions.start(start);
  await sessions.answer({ principal: 'me', sessionId: header.id, answers: [{ value: '1' }], via: 'elicit' });
  await sessions.close();
  return { clock, sessions: make(), waiting: new Map<string, Exchange>(), receipts: new CallReceipts() };
}

it('an abandoned session is offered', async () => {
  const offering = await left();
  expect(await offerResume(exchange, start, offering)).toMatchObject({ questions: [{ key: 'second' }] });
});

it.each(['cancel', 'decline'])('an abandoned session stays open after a %s, and nothing is started', async (action) => {
  const offering = await left();
  const unanswered = { ...exchange, ask: async () => ({ action }) } as unknown as Exchange;
  await expect(offerResume(unanswered, start, offering)).rejects.toThrow(
    'x was not started; the earlier session stays open. Call x again to continue it.',
  );
  expect(await offerResume(exchange, start, offering)).toMatchObject({ questions: [{ key: 'second' }] });
});

it('an expired session is not offered, even if nobody has loaded it since', async () => {
  const offering = await left();
  offering.clock.move(3_600_000);
  expect(await offerResume(exchange, start, offering)).toBeUndefined();
});

/** Its process died while a step was running, and this is another one over the same store. */
async function atWork({ asks = true } = {}) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const runs: string[] = [];
  const make = (name: string, clock: ManualClock) => {
    const body = flow({ name: 'x' }, async (ask) => {
      if (asks) await ask.text('first', { alone: true });
      const work = async () => {
        runs.push(name);
        return name === 'dead' ? new Promise<string>(() => {}) : 'worked';
      };
      return ask.step('work', work, { effect: 'retry' });
    });
    return new Sessions([body], { clock, store, leaseMs: 1000, keys: ['the same'] });
  };
  const dead = make('dead', manualClock()); // its time stands still: it does nothing more
  const sessionId = await reserveSessionId(dead, start);
  await dead.start({ ...start, sessionId });
  if (asks) await dead.answer({ principal: 'me', sessionId, answers: [{ value: '1' }], via: 'elicit' });
  return {
    clock,
    sessions: make('next', clock),
    waiting: new Map<string, Exchange>(),
    receipts: new CallReceipts(),
    runs,
    sessionId,
  };
}

it.each([
  [true, 'You started this before and answered one question. It is still running.'],
  [false, 'You started this before. It is still running.'],
])('a working session is followed until it has its result: one that has asked something: %s', async (asks, words) => {
  const { clock, runs, ...offering } = await atWork({ asks });
  const asked: string[] = [];
  const ask = async ({ params }: { params: { message: string } }) => {
    asked.push(params.message);
    return { action: 'accept', content: { resume: true } };
  };
  const following = offerResume({ ...exchange, ask } as unknown as Exchange, start, offering);
  await until('the work to be done', async () => {
    clock.move(2000);
    await offering.sessions.sweep();
    return (await offering.sessions.list('me')).length === 0;
  });
  clock.move(1000); // for a client that polls
  expect(await following).toMatchObject({ questions: [], result: 'worked' });
  expect(asked).toEqual([words]);
  expect(runs).toEqual(['dead', 'next']);
});

it('the result of an ended session is offered until it is acknowledged', async () => {
  const { clock, ...offering } = await atWork();
  clock.move(2000);
  await offering.sessions.sweep();
  await until('the work to be done', async () => (await offering.sessions.list('me')).length === 0);
  const asked: string[] = [];
  const ask = async ({ params }: { params: { message: string } }) => {
    asked.push(params.message);
    return exchange.ask({ method: 'elicitation/create' });
  };
  const watched = { ...exchange, ask } as unknown as Exchange;
  expect(await offerResume(watched, start, offering)).toMatchObject({ questions: [], result: 'worked' });
  // Nobody knows whether the answer to the call arrived before its process died.
  expect(asked).toEqual(['You started this before, and it has ended since. You may already have seen how.']);
  const others = [
    { ...start, principal: 'you' },
    { ...start, args: { first: '2' } },
  ];
  for (const other of others) expect(await offerResume(exchange, other, offering)).toBeUndefined();
  await offering.sessions.acknowledge(offering.sessionId);
  expect(await offerResume(exchange, start, offering)).toBeUndefined();
});

it('a session is not offered while its own call waits in this process', async () => {
  const offering = await atWork();
  expect(
    await offerResume(exchange, start, { ...offering, waiting: new Map([[offering.sessionId, exchange]]) }),
  ).toBeUndefined();
});

it('a failing session is followed while it undoes its effects, and its failure is shown', async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const make = (isDead: boolean, time: ManualClock) => {
    const body = flow({ name: 'x' }, async (ask) => {
      await ask.text('first', { alone: true });
      const undo = () => (isDead ? new Promise<never>(() => {}) : undefined);
      await ask.step('work', async () => 'worked', { effect: 'retry', undo });
      throw new Error('nobody wants it');
    });
    const log = createLog({ level: 'silent' });
    return new Sessions([body], { clock: time, store, leaseMs: 1000, keys: ['the same'], log });
  };
  const dead = make(true, manualClock());
  const sessionId = await reserveSessionId(dead, start);
  await dead.start({ ...start, sessionId });
  await dead.answer({ principal: 'me', sessionId, answers: [{ value: '1' }], via: 'elicit' });
  await until('it to be ending', async () => (await dead.list('me'))[0]?.pending !== undefined);
  const sessions = make(false, clock);
  const asked: string[] = [];
  const ask = async ({ params }: { params: { message: string } }) => {
    asked.push(params.message);
    return { action: 'accept', content: { resume: true } };
  };
  const watched = { ...exchange, ask } as unknown as Exchange;
  const following = offerResume(watched, start, { sessions, waiting: new Map(), receipts: new CallReceipts() });
  await until('it to end', async () => {
    clock.move(2000);
    await sessions.sweep();
    return (await sessions.list('me')).length === 0;
  });
  clock.move(1000);
  expect(await following).toMatchObject({ questions: [], failure: { message: 'nobody wants it' } });
  const words = 'You started this before. It has failed, and its effects are being undone.';
  expect(asked).toEqual([words]);
});

it('answers of other people do not count as answers of the caller', async () => {
  const body = flow({ name: 'x' }, async (ask) => {
    const [boss, cto] = [ask.person('boss'), ask.person('cto')];
    return [await boss.confirm('ok'), await cto.confirm('sign')];
  });
  const sessions = new Sessions([body], { store: memoryStore() });
  const { header } = await sessions.start(start);
  await sessions.answer({ principal: 'boss', sessionId: header.id, answers: [{ value: true }] });
  const asked: string[] = [];
  const ask = async ({ params }: { params: { message: string } }) => {
    asked.push(params.message);
    return { action: 'accept', content: { resume: true } };
  };
  await offerResume({ ...exchange, ask } as unknown as Exchange, start, {
    sessions,
    waiting: new Map(),
    receipts: new CallReceipts(),
  });
  expect(asked).toEqual(['You started this before. Waiting for cto.']);
  await sessions.close();
});
