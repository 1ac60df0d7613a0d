import { describe, expect, it } from 'vitest';
import { until } from '../../../../tests/helpers/until.ts';
import type { Ask } from '../../authoring/ask.ts';
import { flow } from '../../define.ts';
import type { JournalEntry } from '../../journal.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { testFlow } from '../../../testing/test-flow.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { Sessions } from '../sessions.ts';
import type { SessionEvent } from '../turn/session-event.ts';
import { settled } from '../turn/turn.ts';
import type { Turn } from '../turn/turn.ts';

const me = { principal: 'me' };
const HOUR = 3_600_000;

/** Processes that share a store and a clock. */
function cluster(body: (ask: Ask) => Promise<unknown>) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const tool = flow({ name: 'x', limits: { duration: '60d' } }, body);
  const node = () => {
    const sessions = new Sessions([tool], { clock, store, log: createLog({ level: 'silent' }), leaseMs: 30_000 });
    const turns: Turn[] = [];
    sessions.on((event: SessionEvent) => void (event.kind === 'turn' && turns.push(event.turn)));
    return { sessions, turns };
  };
  return { clock, store, node };
}

async function startedOn(sessions: Sessions) {
  const turn = await sessions.start({ ...me, tool: 'x' });
  const session = { ...me, sessionId: turn.header.id };
  const answer = (promptId: string, value: unknown) => sessions.answer({ ...session, answers: [{ promptId, value }] });
  return { turn, session, answer };
}

function gate<T>() {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => (open = resolve));
  return { open, passed };
}

const patience = async (ask: Ask) => {
  const ok = await Promise.race([ask.confirm('ok', { message: 'Release?' }), ask.sleep('wait', '2h')]);
  const why = await ask.text('why', { message: 'Why?' });
  return { ok: ok ?? 'too late', why };
};

describe('a question that races with a sleep', () => {
  it('is put, and wins if it is answered first', async () => {
    const { node, clock } = cluster(patience);
    const { sessions, turns } = node();
    const { turn, answer } = await startedOn(sessions);
    expect(turn.header.state).toBe('waiting_user');
    expect(turn.questions.map(({ key }) => key)).toEqual(['ok']);
    clock.move(HOUR);
    await sessions.sweep();
    const next = await answer('ok~1', true);
    expect(next.questions.map(({ key }) => key)).toEqual(['why']);
    expect(next.header.waits).toBeUndefined();
    clock.move(2 * HOUR - 1);
    expect((await answer('why~1', 'x').catch((error: unknown) => error)) as Error).toMatchObject({
      code: 'FLOW_SESSION_EXPIRED',
    });
    expect(turns).toEqual([]);
  });

  it('is withdrawn if the sleep is over first, in another process too', async () => {
    const { node, clock } = cluster(patience);
    const first = node();
    const { session, answer } = await startedOn(first.sessions);
    await first.sessions.close();
    const second = node();
    clock.move(2 * HOUR);
    await second.sessions.sweep();
    expect(second.turns.map(({ questions }) => questions.map(({ promptId }) => promptId))).toEqual([['why~1']]);
    await expect(answer('ok~1', true)).rejects.toMatchObject({
      code: 'FLOW_INVALID_TRANSITION',
      message: expect.stringContaining('ok~1 is not open') as string,
    });
    const last = await second.sessions.answer({ ...session, answers: [{ promptId: 'why~1', value: 'late' }] });
    expect(last.result).toEqual({ ok: 'too late', why: 'late' });
  });

  it('has lost, though it is answered before anybody has noticed that the sleep is over', async () => {
    const { node, clock } = cluster(patience);
    const { sessions } = node();
    const { answer } = await startedOn(sessions);
    await sessions.close(); // nothing happens by itself
    clock.move(2 * HOUR + 1);
    await expect(answer('ok~1', true)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    expect((await answer('why~1', 'y')).result).toMatchObject({ ok: 'too late' });
  });

  it('of weeks wakes after a restart, and the sleep does not begin again', async () => {
    const { node, clock, store } = cluster(async (ask) => {
      const ok = await Promise.race([ask.confirm('ok'), ask.sleep('wait', '40d')]);
      return ok ?? 'slept';
    });
    const first = node();
    const { session } = await startedOn(first.sessions);
    await first.sessions.close();
    clock.move(39 * 24 * HOUR);
    const second = node();
    await second.sessions.sweep();
    expect((await store.load(session.sessionId))?.header.state).toBe('waiting_user');
    clock.move(24 * HOUR);
    await second.sessions.sweep();
    expect(second.turns.map(({ result }) => result)).toEqual(['slept']);
  });

  it('is asked again under another number where the body looks at it again', async () => {
    const { node, clock } = cluster(async (ask) => {
      const ok = ask.confirm('ok', { message: 'Release?' });
      await Promise.race([ok, ask.sleep('wait', '1m')]);
      await ask.text('why');
      return ok;
    });
    const { sessions, turns } = node();
    const { answer } = await startedOn(sessions);
    clock.move(60_000);
    await sessions.sweep();
    expect(turns[0]!.questions.map(({ promptId }) => promptId)).toEqual(['why~1']);
    const again = await answer('why~1', 'x');
    expect(again.questions.map(({ promptId }) => promptId)).toEqual(['ok~2']);
    await expect(answer('ok~1', true)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    expect((await answer('ok~2', true)).result).toBe(true);
  });

  it('stays open if the body also waits for it outside of the race', async () => {
    const { node, clock } = cluster(async (ask) => {
      const ok = ask.confirm('ok');
      const both = Promise.all([ok, ask.text('why')]);
      await Promise.race([ok, ask.sleep('wait', '1m')]);
      return both;
    });
    const { sessions } = node();
    const { answer, session } = await startedOn(sessions);
    clock.move(60_000);
    await sessions.sweep();
    const { questions } = await sessions.getState(session);
    expect(questions.map(({ promptId }) => promptId)).toEqual(['ok~1', 'why~1']);
    await answer('ok~1', true);
    expect((await answer('why~1', 'x')).result).toEqual([true, 'x']);
  });

  it('is seen through ask.try', async () => {
    const { node, clock } = cluster(async (ask) => {
      const tried = await Promise.race([ask.try(ask.confirm('ok')), ask.sleep('wait', '1m')]);
      return [tried, await ask.text('why')];
    });
    const { sessions, turns } = node();
    await startedOn(sessions);
    clock.move(60_000);
    await sessions.sweep();
    expect(turns[0]!.questions.map(({ key }) => key)).toEqual(['why']);
  });
});

describe('a question beside a step', () => {
  const both = (step: () => Promise<string>, effect?: 'retry') => async (ask: Ask) =>
    Promise.all([ask.text('name'), ask.step('work', step, effect ? { effect } : {})]);

  it.each([undefined, 'retry'] as const)('is put while the step runs (effect: %s)', async (effect) => {
    const { open, passed } = gate<string>();
    let runs = 0;
    const { node, clock } = cluster(both(() => (runs++, passed), effect));
    const { sessions, turns } = node();
    const starting = sessions.start({ ...me, tool: 'x' });
    // Steps that only read have a moment to come to their end before anything is asked.

    await until('it runs', () => runs === 1);
    clock.move(20);
    const asked = await settled(await starting);
    expect(asked.questions.map(({ key }) => key)).toEqual(['name']);
    expect(asked.header).toMatchObject({ state: 'waiting_user', busy: true });
    const session = { ...me, sessionId: asked.header.id };
    const answers = [{ promptId: 'name~1', value: 'Ada' }];
    const answered = await sessions.answer({ ...session, answers });
    expect(answered).toMatchObject({ accepted: true, questions: [] });
    // The same once more, as from a client that did not hear so.
    expect((await sessions.answer({ ...session, answers })).accepted).toBe(true);
    const last = settled(answered);
    open('done');
    expect((await last).result).toEqual(['Ada', 'done']);
    expect(runs).toBe(1);
    expect(turns.map(({ result }) => result)).toEqual([['Ada', 'done']]);
  });

  it('can be answered in another process than the one that is at work', async () => {
    const { open, passed } = gate<string>();
    let runs = 0;
    const { node, store } = cluster(both(() => (runs++, passed), 'retry'));
    const worker = node();
    const { turn, session } = await startedOn(worker.sessions);
    const { header } = await settled(turn);
    const other = node();
    const answers = [{ promptId: 'name~1', value: 'Ada' }];
    const refused = await other.sessions.answer({ ...session, answers: [{ promptId: 'name~1', value: 7 }] });
    expect(refused).toMatchObject({ accepted: false, questions: [{ promptId: 'name~2' }] });
    await expect(other.sessions.answer({ ...session, answers })).rejects.toMatchObject({
      code: 'FLOW_INVALID_TRANSITION',
    });
    const taken = await other.sessions.answer({ ...session, answers: [{ promptId: 'name~2', value: 'Ada' }] });
    expect(taken.accepted).toBe(true);
    expect(runs).toBe(1);
    const journal = (await store.load(header.id))!.entries;
    open('done');
    await until('it is over', () => worker.turns.length > 0);
    expect(worker.turns.at(-1)!.result).toEqual(['Ada', 'done']);
    expect(runs).toBe(1);
    expect(journal.map(({ t }) => t)).toEqual(['start', 'int', 'rej', 'ans']);
  });

  it('is asked again, and the step done again, after the process has died', async () => {
    let runs = 0;
    const { node, clock } = cluster(
      both(() => (++runs === 1 ? new Promise(() => {}) : Promise.resolve('done')), 'retry'),
    );
    const first = node();
    const { session } = await startedOn(first.sessions);
    await first.sessions.close();
    clock.move(30_001);
    const second = node();
    const answers = [{ promptId: 'name~1', value: 'Ada' }];
    const last = await settled(await second.sessions.answer({ ...session, answers }));
    expect(last.result).toEqual(['Ada', 'done']);
    expect(runs).toBe(2);
  });

  it('times out while the step runs', async () => {
    const { open, passed } = gate<string>();
    const { node, clock } = cluster(async (ask) =>
      Promise.all([
        ask.text('name', { timeout: '1m', onTimeout: 'default', default: 'nobody' }),
        ask.step('work', () => passed, { effect: 'retry', timeout: '1h' }),
      ]),
    );
    const { sessions, turns } = node();
    const { turn, session } = await startedOn(sessions);
    await settled(turn);
    clock.move(60_000);
    await until('it has timed out', async () => (await sessions.getState(session)).questions.length === 0);
    open('done');
    await until('it is over', () => turns.at(-1)?.result !== undefined);
    expect(turns.at(-1)!.result).toEqual(['nobody', 'done']);
  });

  it('cannot be gone back over while the step runs', async () => {
    const { passed } = gate<string>();
    const { node } = cluster(async (ask) => {
      await ask.text('first', { alone: true });
      return both(() => passed, 'retry')(ask);
    });
    const { sessions } = node();
    const { session, answer } = await startedOn(sessions);
    await settled(await answer('first~1', 'x'));
    await expect(sessions.back(session)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
  });

  it('is withdrawn when the step wins the race', async () => {
    const { open, passed } = gate<string>();
    const { node } = cluster(async (ask) => {
      const won = await Promise.race([ask.confirm('enough'), ask.step('work', () => passed, { effect: 'retry' })]);
      return [won, await ask.text('why')];
    });
    const { sessions, turns } = node();
    const { turn, answer } = await startedOn(sessions);
    expect((await settled(turn)).questions.map(({ key }) => key)).toEqual(['enough']);
    open('done');
    await until('the next is asked', () => turns.length > 0);
    expect(turns[0]!.questions.map(({ key }) => key)).toEqual(['why']);
    await expect(answer('enough~1', true)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    expect((await answer('why~1', 'x')).result).toEqual(['done', 'x']);
  });

  it('wins the race, and the step continues', async () => {
    const { open, passed } = gate<string>();
    const { node } = cluster(async (ask) => {
      const work = ask.step('work', () => passed, { effect: 'retry' });
      const won = await Promise.race([ask.confirm('enough'), work]);
      const why = await ask.text('why');
      return [won, why, await work];
    });
    const { sessions } = node();
    const { turn, answer } = await startedOn(sessions);
    await settled(turn);
    const next = await settled(await answer('enough~1', true));
    expect(next.questions.map(({ key }) => key)).toEqual(['why']);
    const last = settled(await answer('why~1', 'x'));
    open('done');
    expect((await last).result).toEqual([true, 'x', 'done']);
  });
});

describe('the journal decides', () => {
  it('who has won, in every later run', async () => {
    const { node, clock, store } = cluster(async (ask) => {
      const first = await Promise.race([
        ask.confirm('ok').then((ok) => `answer ${ok}`),
        ask.sleep('a', '1m').then(() => 'a'),
        ask.sleep('b', '2m').then(() => 'b'),
      ]);
      const rest = await Promise.all([ask.sleep('c', '1m'), ask.text('end')]);
      return [first, rest[1], ask.now()];
    });
    const { sessions } = node();
    const { session } = await startedOn(sessions);
    await sessions.close();
    clock.move(5 * 60_000); // both are over; `a` was first
    const second = node();
    await second.sessions.sweep();
    await second.sessions.sweep();
    const journal = (await store.load(session.sessionId))!.entries;
    expect(toOrder(journal).slice(0, 2)).toEqual(['int a', 'int b']);
    expect(toOrder(journal)[2]).toBe('step a');
    const third = node();
    clock.move(60_000);
    await third.sessions.sweep();
    const last = await third.sessions.answer({ ...session, answers: [{ promptId: 'end~1', value: 'x' }] });
    expect((last.result as unknown[]).slice(0, 2)).toEqual(['a', 'x']);
  });
});

function toOrder(journal: JournalEntry[]): string[] {
  return journal.flatMap((entry) => (entry.t === 'int' || entry.t === 'step' ? [`${entry.t} ${entry.k}`] : []));
}

describe('testFlow', () => {
  const approval = flow({ name: 'approval', limits: { duration: '3d' } }, async (ask) => {
    const ok = await Promise.race([ask.confirm('ok'), ask.sleep('wait', '1d')]);
    const [name, built] = await Promise.all([
      ask.text('name'),
      ask.step('build', async () => 'built', { effect: 'retry' }),
    ]);
    await ask.sleep('night', '8h');
    return { ok: ok ?? 'late', name, built };
  });

  it('lets the time pass where no answer is given', async () => {
    const early = await testFlow(approval).answer({ ok: true, name: 'x' });
    expect(early.result).toEqual({ ok: true, name: 'x', built: 'built' });
    const late = await testFlow(approval).answer({ name: 'x' });
    expect(late.result).toEqual({ ok: 'late', name: 'x', built: 'built' });
  });

  it('comes to the same result wherever the process dies', async () => {
    const { crashes, result } = await testFlow(approval).crashEverywhere({ ok: true, name: 'x' });
    expect(result).toMatchObject({ ok: true });
    expect(crashes.length).toBeGreaterThan(10);
    expect((await testFlow(approval).crashEverywhere({ name: 'x' })).result).toMatchObject({ ok: 'late' });
  });
});
