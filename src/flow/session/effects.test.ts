import { describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { Ask } from '../authoring/ask.ts';
import type { StepOptions } from '../authoring/step.ts';
import { flow } from '../define.ts';
import type { JournalEntry } from '../journal.ts';
import { memoryStore } from '../store/memory/memory.ts';
import type { FlowStore } from '../store/store.ts';
import { manualClock } from '../testing/manual-clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { Sessions } from './sessions.ts';
import type { SessionEvent } from './turn/session-event.ts';
import { settled } from './turn/turn.ts';

const LEASE_MS = 30_000;
const log = createLog({ level: 'silent' });

/** Processes that share a store and a clock. */
function cluster() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const node = (body: (ask: Ask) => Promise<unknown>, own: Clock = clock) =>
    new Sessions([flow({ name: 'x' }, body)], { clock: own, store, log, leaseMs: LEASE_MS });
  /** One that will die: nothing that it has planned ever happens. */
  const mortal = (body: (ask: Ask) => Promise<unknown>) =>
    node(body, { now: () => clock.now(), after: () => () => {} });
  return { clock, store, node, mortal };
}

const never = () => new Promise<never>(() => {});
const me = { principal: 'me' };

async function startedOn(sessions: Sessions) {
  const turn = await sessions.start({ ...me, tool: 'x' });
  const session = { ...me, sessionId: turn.header.id };
  return { session, answer: (value: unknown) => sessions.answer({ ...session, answers: [{ value }] }) };
}

function entriesOf(store: FlowStore, id: string): Promise<JournalEntry[]> {
  return store.load(id).then((stored) => stored?.entries ?? []);
}

describe('an effect', () => {
  it('is written down before it begins, with the answer that led to it', async () => {
    const { store, node } = cluster();
    let seen: JournalEntry[] = [];
    let id = '';
    const sessions = node(async (ask) => {
      await ask.confirm('ok');
      return ask.step('pay', async () => void (seen = await entriesOf(store, id)), { effect: 'retry' });
    });
    const { session, answer } = await startedOn(sessions);
    id = session.sessionId;
    const working = await answer(true);
    expect(working.header.state).toBe('processing');
    await settled(working);
    expect(seen.map(({ t }) => t)).toEqual(['start', 'ans', 'int']);
  });

  it('is done again after a crash, with the same key', async () => {
    const { clock, node, mortal } = cluster();
    const keys: string[] = [];
    const attempts: number[] = [];
    const body = (work: () => Promise<unknown>) => async (ask: Ask) => {
      await ask.text('a');
      await ask.step(
        'pay',
        (step) => {
          keys.push(step.idempotencyKey);
          attempts.push(step.attempt);
          return work();
        },
        { effect: 'retry' },
      );
      return ask.text('b');
    };
    const dead = mortal(body(never));
    const { session, answer } = await startedOn(dead);
    await answer('x');
    const other = node(body(async () => 'paid'));
    const turns: SessionEvent[] = [];
    other.on((event) => void turns.push(event));
    await other.sweep();
    expect(turns).toEqual([]);
    clock.move(LEASE_MS + 1);
    await other.sweep();
    const [event] = turns;
    if (event?.kind !== 'turn') throw new Error('nobody took over');
    expect((await settled(event.turn)).questions[0]?.key).toBe('b');
    expect(keys[0]).toBe(keys[1]);
    expect(attempts).toEqual([1, 2]);
    // The first one comes back to life: it has nothing to say any more.
    const { header } = await other.getState(session);
    expect(header.state).toBe('waiting_user');
  });

  it('whose process was only slow is not written twice', async () => {
    const { clock, store, node, mortal } = cluster();
    const release: (() => void)[] = [];
    const body = async (ask: Ask) => {
      await ask.text('a');
      const paid = await ask.step('pay', () => new Promise<string>((resolve) => release.push(() => resolve('paid'))), {
        effect: 'retry',
      });
      return ask.text('b', { message: paid });
    };
    const slow = mortal(body);
    const { session, answer } = await startedOn(slow);
    const working = await answer('x');
    const quick = node(body);
    clock.move(LEASE_MS + 1);
    await quick.sweep();
    for (const finish of release) finish();
    const late = await settled(working);
    expect(late.header.state).toMatch(/processing|waiting_user/);
    await expect.poll(async () => (await quick.getState(session)).header.state).toBe('waiting_user');
    const steps = (await entriesOf(store, session.sessionId)).filter(({ t }) => t === 'step');
    expect(steps).toHaveLength(1);
  });

  it.each<[string, StepOptions<string>, object]>([
    ['is never done again', { effect: 'once' }, { state: 'error', reason: 'effect_unknown' }],
    ['is taken as done where that can be found out', { effect: 'once', check: () => 'found' }, { state: 'completed' }],
    ['is done where it was not', { effect: 'once', check: () => undefined }, { state: 'completed' }],
  ])('that must happen once %s', async (_, options, end) => {
    const { clock, node, mortal } = cluster();
    let times = 0;
    const body = (work: () => Promise<string>) => async (ask: Ask) => {
      await ask.text('a');
      return ask.step('pay', () => (times++, work()), options);
    };
    const { answer } = await startedOn(mortal(body(never)));
    await answer('x');
    const other = node(body(async () => 'done now'));
    const ended = new Promise<SessionEvent>((resolve) => other.on(resolve));
    clock.move(LEASE_MS + 1);
    await other.sweep();
    const event = await ended;
    const last = event.kind === 'turn' ? await settled(event.turn) : undefined;
    expect(last?.header).toMatchObject(end);
    if (last?.header.state === 'completed') expect(last.result).toBe(options.check?.(undefined as never) ?? 'done now');
    expect(times).toBe(last?.result === 'done now' ? 2 : 1);
  });

  it('that fails throws in the body, and in every later run', async () => {
    const { node } = cluster();
    let times = 0;
    const sessions = node(async (ask) => {
      try {
        await ask.step('pay', () => {
          times++;
          throw Object.assign(new TypeError('no funds'), { data: { left: 3 } });
        });
      } catch (thrown) {
        const { name, message, data } = thrown as Error & { data: unknown };
        await ask.text('sorry', { message: `${name}: ${message} ${JSON.stringify(data)}` });
        return ask.text('why');
      }
      return 'unseen';
    });
    const turn = await sessions.start({ ...me, tool: 'x' });
    expect(turn.questions[0]?.prompt.message).toBe('TypeError: no funds {"left":3}');
    const session = { ...me, sessionId: turn.header.id };
    expect((await sessions.answer({ ...session, answers: [{ value: 'ok' }] })).questions[0]?.key).toBe('why');
    expect(times).toBe(1);
  });

  it('that takes too long is given up', async () => {
    const { clock, node } = cluster();
    const sessions = node(async (ask) => {
      await ask.text('a');
      await ask.step('slow', never, { effect: 'retry', timeout: '2s' });
    });
    const { answer } = await startedOn(sessions);
    const working = await answer('x');
    clock.move(2001);
    const last = await settled(working);
    expect(last.failure).toMatchObject({ name: 'FLOW_TIMEOUT', message: 'Step slow took longer than 2000 ms' });
  });
});

describe('a step that only reads', () => {
  it('costs no write of its own when it is quick', async () => {
    const { store, node } = cluster();
    const sessions = node(async (ask) => {
      await ask.text('a');
      const price = await ask.step('price', async () => 5);
      return ask.text('b', { message: `${price}` });
    });
    const { session, answer } = await startedOn(sessions);
    const turn = await answer('x');
    expect(turn).toMatchObject({
      header: { state: 'waiting_user', rev: 1 },
      questions: [{ prompt: { message: '5' } }],
    });
    expect((await entriesOf(store, session.sessionId)).map(({ t }) => t)).toEqual(['start', 'ans', 'step']);
  });

  it('does not keep the client waiting when it is slow', async () => {
    const { clock, node } = cluster();
    let finish: ((price: number) => void) | undefined;
    const sessions = node(async (ask) => {
      await ask.text('a');
      return ask.step('price', () => new Promise<number>((resolve) => (finish = resolve)));
    });
    const { session, answer } = await startedOn(sessions);
    const answered = answer('x');
    await expect.poll(() => finish).toBeDefined();
    clock.move(25);
    const working = await answered;
    expect(working).toMatchObject({ accepted: true, header: { state: 'processing' } });
    expect((await sessions.getState(session)).header.state).toBe('processing');
    await expect(answer('y')).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    finish?.(7);
    expect((await settled(working)).result).toBe(7);
  });
});

describe('sleeping', () => {
  it('continues in another process, when its time has come', async () => {
    const { clock, node, mortal } = cluster();
    const body = async (ask: Ask) => {
      await ask.text('a');
      await ask.sleep('night', '10m');
      return ask.now();
    };
    const { answer } = await startedOn(mortal(body));
    await answer('x');
    const began = clock.now();
    const other = node(body);
    const ended = new Promise<SessionEvent>((resolve) => other.on(resolve));
    clock.move(10 * 60_000);
    await other.sweep();
    const event = await ended;
    if (event.kind !== 'turn') throw new Error('nobody woke it');
    const last = await settled(event.turn);
    expect(last.header.state).toBe('completed');
    expect(last.result).toBeGreaterThanOrEqual(began + 10 * 60_000);
  });
});

describe('a sleep', () => {
  const nap = (span: '30d' | '2h', duration: '60d' | '1h') =>
    flow({ name: 'nap', limits: { duration } }, async (ask) => {
      await ask.text('city', { alone: true });
      await ask.sleep('nap', span);
      return 'woken';
    });
  const begun = async (tool: ReturnType<typeof nap>, store = memoryStore()) => {
    const sessions = new Sessions([tool], { store, log: createLog({ level: 'silent' }), leaseMs: 100 });
    const { header } = await sessions.start({ principal: 'me', tool: 'nap' });
    const session = { principal: 'me', sessionId: header.id };
    const turn = await sessions.answer({ ...session, answers: [{ promptId: 'city~1', value: 'Oslo' }] });
    return { sessions, session, turn };
  };

  it('of a month is not over at once', async () => {
    const { sessions, turn } = await begun(nap('30d', '60d'));
    const early = await Promise.race([settled(turn), new Promise((resolve) => setTimeout(resolve, 100, 'asleep'))]);
    expect(early).toBe('asleep');
    await sessions.close();
  });

  it('that is longer than its session may last is refused at once', async () => {
    const { turn } = await begun(nap('2h', '1h'));
    expect((await settled(turn)).failure).toMatchObject({
      name: 'FLOW_MISUSED',
      message: expect.stringContaining('limits.duration') as string,
    });
  });

  it('continues in another process, and wakes when its time has come', async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const options = { store, clock, log: createLog({ level: 'silent' }) };
    const first = new Sessions([nap('30d', '60d')], options);
    const { header } = await first.start({ principal: 'me', tool: 'nap' });
    const session = { principal: 'me', sessionId: header.id };
    await first.answer({ ...session, answers: [{ promptId: 'city~1', value: 'Oslo' }] });
    await first.close(); // its lease runs out
    const second = new Sessions([nap('30d', '60d')], options);
    clock.move(60_000);
    await second.sweep();
    expect((await second.getState(session)).header.state).toBe('processing');
    const ended = new Promise<unknown>((resolve) => {
      second.on((event) => event.kind === 'turn' && void settled(event.turn).then(({ result }) => resolve(result)));
    });
    clock.move(31 * 86_400_000);
    await second.sweep();
    const over = until('it wakes', async () => (await second.getState(session)).header.state === 'completed');
    await Promise.race([ended, over]);
    expect((await second.getState(session)).outcome).toMatchObject({ result: 'woken' });
  });
});
