// The predicted and the real effect of a new version on an open session.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import type { FlowOptions } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { replayVerdict } from './replay-verdict.ts';

const me = { principal: 'me' };
const log = createLog({ level: 'silent' });
type Body = (ask: Ask) => Promise<unknown>;

/** A session of the first body, after these answers, and how another body would go on with it: as is said, and as it does. */
async function begun(body: Body, answers: unknown[] = []) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const deploy = (next: Body, more: Partial<FlowOptions> = {}) => flow({ name: 'x', ...more }, next);
  const first = new Sessions([deploy(body)], { store, clock, log });
  const { id } = (await settled(await first.start({ ...me, tool: 'x' }))).header;
  const answer = async (sessions: Sessions, value: unknown) =>
    settled(await sessions.answer({ ...me, sessionId: id, answers: [{ value }] }));
  for (const value of answers) await answer(first, value);
  const said = async (next: Body, more?: Partial<FlowOptions>) => {
    const before = JSON.stringify(await store.load(id));
    const verdict = await replayVerdict(deploy(next, more), (await store.load(id))!);
    expect(JSON.stringify(await store.load(id))).toBe(before);
    return verdict;
  };
  const done = async (next: Body, value: unknown, more?: Partial<FlowOptions>) =>
    answer(new Sessions([deploy(next, more)], { store, clock, log }), value);
  return { said, done, first, id, store };
}

/** The same, not waiting for the turn after the only answer. */
async function begunLater(body: Body) {
  const started = await begun(body);
  const { first, id } = started;
  await first.answer({ ...me, sessionId: id, answers: [{ value: '1' }] });
  return started;
}

const steps: string[] = [];
const charging =
  (key: 'charge' | 'charge-card'): Body =>
  async (ask) => {
    await ask.text('sum', { message: 'How much?' });
    await ask.step(key, () => void steps.push(key), { effect: 'retry' });
    await ask.text('note', { message: 'A note?' });
  };

describe('the replay verdict on a session that waits', () => {
  it('is that nothing changes, where the same is asked', async () => {
    const { said } = await begun(charging('charge'), ['3']);
    expect(await said(charging('charge'))).toEqual({ kind: 'ok', words: 'asks note' });
    const more = async (ask: Ask) => [await charging('charge')(ask), await ask.text('more')];
    expect(await said(more)).toEqual({ kind: 'ok', words: 'asks note' });
  });

  it('is that it parks if an effect is no longer called, and it does; no step runs for that', async () => {
    const { said, done } = await begun(charging('charge'), ['3']);
    steps.length = 0;
    const renamed = await said(charging('charge-card'));
    expect(renamed).toMatchObject({
      kind: 'parks',
      words: expect.stringContaining('charge-card would be done instead'),
    });
    const gone: Body = async (ask) => [await ask.text('sum'), await ask.text('note', { message: 'A note?' })];
    expect(await said(gone)).toMatchObject({
      kind: 'parks',
      words: expect.stringContaining('the effect charge has begun'),
    });
    await expect(done(gone, 'x')).rejects.toThrow('the effect charge has begun');
    await expect(done(charging('charge-card'), 'x')).rejects.toThrow('charge-card would be done instead');
    expect(steps).toEqual([]);
    const migrate = { renamed: { charge: 'charge-card' } };
    expect(await said(charging('charge-card'), { migrate })).toEqual({ kind: 'ok', words: 'asks note' });
    expect((await done(charging('charge-card'), 'x', { migrate })).header.state).toBe('completed');
  });

  it('is that it parks where a key is of another kind, or the function throws where it went on before', async () => {
    const { said, done } = await begun(async (ask) => [await ask.text('a'), await ask.text('b')], ['1']);
    const other: Body = async (ask) => [await ask.step('a', () => 1), await ask.text('b')];
    expect(await said(other)).toEqual({ kind: 'parks', words: 'a was a question and is a step now' });
    await expect(done(other, '2')).rejects.toThrow('a was a question and is a step now');
    const broken: Body = async (ask) => {
      await ask.text('a');
      throw new Error('No such room');
    };
    expect(await said(broken)).toMatchObject({ kind: 'parks', words: expect.stringContaining('No such room') });
    await expect(done(broken, '2')).rejects.toThrow('No such room');
  });

  it('is what changes: another question, other words, a step or the end before the question', async () => {
    const { said, done } = await begun(
      async (ask) => [await ask.text('a'), await ask.confirm('b', { message: 'Pay 10?' })],
      ['1'],
    );
    const fresh: Body = async (ask) => [
      await ask.text('new'),
      await ask.text('a'),
      await ask.confirm('b', { message: 'Pay 10?' }),
    ];
    expect(await said(fresh)).toEqual({ kind: 'changes', words: 'asks new before b' });
    const dearer: Body = async (ask) => [await ask.text('a'), await ask.confirm('b', { message: 'Pay 1000?' })];
    expect(await said(dearer)).toEqual({ kind: 'changes', words: 'asks b in other words: Pay 1000?' });
    const looking: Body = async (ask) => {
      await ask.text('a');
      await ask.step('look', () => 1);
      return ask.confirm('b', { message: 'Pay 10?' });
    };
    expect(await said(looking)).toEqual({ kind: 'changes', words: 'runs the step look before it asks b' });
    const short: Body = async (ask) => ask.text('a');
    expect(await said(short)).toEqual({ kind: 'changes', words: 'ends without asking b' });
    expect((await done(short, true)).result).toBe('1');
  });

  it('is that nothing changes where it waits for an event or its time, or asks while a step runs', async () => {
    const racing: Body = async (ask) => Promise.race([ask.text('a'), ask.sleep('nap', '5m'), ask.event('paid')]);
    const { said } = await begun(racing);
    expect(await said(racing)).toEqual({ kind: 'ok', words: 'asks a and waits for nap, paid' });
    const busy: Body = async (ask) => {
      const slow = ask.step('slow', () => new Promise(() => {}), { effect: 'retry' });
      return Promise.all([ask.text('a'), slow]);
    };
    const other = await begun(busy);
    expect(await other.said(busy)).toEqual({ kind: 'ok', words: 'continues with the step slow' });
  });

  it.each<[string, Body]>([
    ['a question', (ask) => ask.text('last')],
    ['another person', (ask) => ask.person('bea').text('last')],
    ['a sleep', (ask) => ask.sleep('last', '5m')],
    ['an event', (ask) => ask.event('last')],
  ])('knows that ask.version leaves sessions alone that wait behind the mark: for %s', async (_, last) => {
    const { said } = await begunLater(async (ask) => [await ask.text('a'), await last(ask)]);
    const marked: Body = async (ask) => {
      await ask.text('a');
      if (ask.version('laptop')) await ask.confirm('laptop');
      return last(ask);
    };
    const verdict = await said(marked);
    expect(verdict.kind).toBe('ok');
    expect(verdict.words).toMatch(/^(asks|waits for) last$/);
    const careless: Body = async (ask) => [await ask.text('a'), await ask.confirm('laptop'), await last(ask)];
    expect(await said(careless)).toEqual({ kind: 'changes', words: 'asks laptop before last' });
  });

  it('is that it hangs, where the function waits for something of its own', async () => {
    const { said } = await begun(async (ask) => ask.text('a'));
    expect(await said(() => new Promise(() => {}))).toMatchObject({
      kind: 'fails',
      words: expect.stringContaining('neither'),
    });
  });
});

describe('the replay verdict on a session that is working or being ended', () => {
  it('is the step with which it continues', async () => {
    const working: Body = async (ask) => {
      await ask.text('a');
      await ask.step('slow', () => new Promise(() => {}), { effect: 'retry' });
      return ask.text('b');
    };
    const { said, first, id } = await begun(working);
    await first.answer({ ...me, sessionId: id, answers: [{ value: '1' }] });
    expect(await said(working)).toEqual({ kind: 'ok', words: 'continues with the step slow' });
    expect(await said(async (ask) => [await ask.text('a'), await ask.text('b')])).toEqual({
      kind: 'changes',
      words: 'asks b before it reaches slow, which has begun',
    });
  });

  it('names the effects to undo, or those that have no undo any more', async () => {
    const undoing =
      (key: 'reserve' | 'book'): Body =>
      async (ask) => {
        await ask.step(key, () => 'r1', { effect: 'retry', undo: () => Promise.reject(new Error('away')) });
        await ask.confirm('ok');
      };
    const { said, first, id, store } = await begun(undoing('reserve'));
    await first.cancel({ ...me, sessionId: id });
    expect((await store.load(id))!.header.pending).toMatchObject({ kind: 'cancel' });
    expect(await said(undoing('reserve'))).toEqual({ kind: 'ok', words: 'undoes reserve' });
    expect(await said(undoing('book'))).toEqual({ kind: 'parks', words: 'x has no undo for reserve' });
  });
});
