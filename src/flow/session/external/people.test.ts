import { describe, expect, it } from 'vitest';
import { until } from '../../../../tests/helpers/until.ts';
import type { Ask } from '../../authoring/ask.ts';
import { flow } from '../../define.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { testFlow } from '../../../testing/test-flow.ts';
import { createLog } from '../../../kernel/base/log.ts';
import type { PersonNotice } from '../context/session-context.ts';
import { Sessions } from '../sessions.ts';
import { settled } from '../turn/turn.ts';
import type { Turn } from '../turn/turn.ts';

const HOUR = 3_600_000;

function office(body: (ask: Ask) => Promise<unknown>, told?: (notice: PersonNotice) => unknown) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const notices: PersonNotice[] = [];
  const tool = flow({ name: 'release', limits: { duration: '2d' } }, body);
  const node = () => {
    const notify = told ?? ((notice: PersonNotice) => void notices.push(notice));
    const sessions = new Sessions([tool], { clock, store, notify, log: createLog({ level: 'silent' }) });
    const turns: Turn[] = [];
    sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
    return { sessions, turns };
  };
  return { clock, store, notices, node, ...node() };
}

async function started(sessions: Sessions) {
  const turn = await sessions.start({ principal: 'ada', tool: 'release' });
  const { id: sessionId } = turn.header;
  const answerAs = (principal: string, promptId: string | undefined, value: unknown) =>
    sessions.answer({ principal, sessionId, answers: [{ ...(promptId !== undefined && { promptId }), value }] });
  return { turn, sessionId, answerAs };
}

const approval = async (ask: Ask) => {
  const ok = await ask
    .person('ops-lead', { remind: '4h', handOver: ['ops-lead', 'deputy'] })
    .confirm('approve', { message: 'Release 2.0?' });
  return { ok, note: await ask.text('note') };
};

describe('a question to another person', () => {
  it('is not put to the caller, who learns when it was answered', async () => {
    const { sessions, turns } = office(approval);
    const { turn, sessionId, answerAs } = await started(sessions);
    expect(turn).toMatchObject({ questions: [], header: { state: 'waiting_user' } });
    const asked = settled(turn);
    const answered = await answerAs('ops-lead', 'approve~1', true);
    expect(answered).toMatchObject({ accepted: true, questions: [] });
    expect(answered).not.toHaveProperty('result');
    expect((await asked).questions.map(({ key }) => key)).toEqual(['note']);
    expect(turns).toHaveLength(1);
    const { history } = await sessions.getState({ principal: 'ada', sessionId });
    expect(history.map(({ prompt }) => prompt.message)).toEqual(['Release 2.0?']);
    expect((await answerAs('ada', 'note~1', 'x')).result).toEqual({ ok: true, note: 'x' });
  });

  it('cannot be answered by another person or by the caller', async () => {
    const { sessions } = office(approval);
    const { sessionId, answerAs } = await started(sessions);
    await expect(answerAs('ada', 'approve~1', true)).rejects.toMatchObject({
      code: 'FLOW_INVALID_TRANSITION',
      message: expect.stringContaining('approve~1 is for ops-lead to answer') as string,
    });
    await expect(answerAs('ada', undefined, true)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    await expect(answerAs('eve', 'approve~1', true)).rejects.toMatchObject({ code: 'FLOW_SESSION_NOT_FOUND' });
    await answerAs('ops-lead', 'approve~1', false);
    const edited = sessions.edit({ principal: 'ada', sessionId, key: 'approve', value: true });
    await expect(edited).rejects.toMatchObject({
      message: expect.stringContaining('so you cannot change it') as string,
    });
    await expect(sessions.getState({ principal: 'ops-lead', sessionId })).rejects.toMatchObject({
      code: 'FLOW_SESSION_NOT_FOUND',
    });
  });

  it('is not answered by an argument of that name', async () => {
    const { sessions } = office(approval);
    const turn = await sessions.start({ principal: 'ada', tool: 'release', args: { approve: true } });
    expect(turn.header.current).toMatchObject([{ promptId: 'approve~1', person: { principal: 'ops-lead' } }]);
    const edited = sessions.edit({ principal: 'ada', sessionId: turn.header.id, key: 'approve', value: true });
    await expect(edited).rejects.toMatchObject({
      message: expect.stringContaining('for ops-lead to answer') as string,
    });
  });

  it('is all that the person sees of the session, and all that they can do in it', async () => {
    const { sessions } = office(async (ask) => {
      const salary = await ask.text('salary', { alone: true });
      return [salary, await ask.person('ops-lead').confirm('approve')];
    });
    const { sessionId, answerAs } = await started(sessions);
    await answerAs('ada', 'salary~1', '1000');
    const them = { principal: 'ops-lead', sessionId };
    expect(await sessions.getState(them)).toMatchObject({
      history: [],
      data: {},
      questions: [{ promptId: 'approve~1' }],
    });
    for (const act of [() => sessions.cancel(them), () => sessions.back(them), () => sessions.extend(them)]) {
      await expect(act()).rejects.toMatchObject({ code: 'FLOW_SESSION_NOT_FOUND' });
    }
    const edit = sessions.edit({ ...them, key: 'salary', value: '1' });
    await expect(edit).rejects.toMatchObject({ code: 'FLOW_SESSION_NOT_FOUND' });
  });

  it('may be answered by the caller too where its author says so', async () => {
    const { sessions } = office(async (ask) => ask.person('ops-lead', { orCaller: true }).confirm('approve'));
    const { turn, answerAs } = await started(sessions);
    expect(turn.questions.map(({ key }) => key)).toEqual(['approve']);
    expect((await answerAs('ada', 'approve~1', true)).result).toBe(true);
  });

  it('is brought to the person, and again at the times of its author, by whatever process is there', async () => {
    const { sessions, clock, notices, node } = office(approval);
    await started(sessions);
    clock.move(0);
    await sessions.sweep();
    await until('the notice', () => notices.length === 1);
    expect(notices[0]).toMatchObject({ kind: 'asked', person: 'ops-lead', message: 'Release 2.0?', tool: 'release' });
    await sessions.close();
    const second = node();
    clock.move(4 * HOUR);
    await second.sessions.sweep();
    clock.move(4 * HOUR);
    await second.sessions.sweep();
    expect(notices.map(({ kind }) => kind)).toEqual(['asked', 'reminder', 'reminder']);
  });

  it('is brought again soon where that has failed, later each time, and at most a minute later', async () => {
    let failures = 8;
    const { sessions, clock, notices } = office(approval, (notice) => {
      notices.push(notice);
      if (failures-- > 0) throw new Error('the mail server is away');
    });
    await started(sessions);
    const at: number[] = [];
    for (const since = clock.now(); at.length < 9; clock.move(1000)) {
      await sessions.sweep();
      if (notices.length > at.length) at.push((clock.now() - since) / 1000);
    }
    expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
    expect(notices.map(({ kind }) => kind)).toEqual(Array(9).fill('asked'));
    clock.move(4 * HOUR);
    await until('the reminder', () => sessions.sweep().then(() => notices.at(-1)!.kind === 'reminder'));
  });

  it('of one session is brought while the notice of another takes its time, and that has failed after ten seconds', async () => {
    const { sessions, clock, notices } = office(approval, (notice) => {
      notices.push(notice);
      return new Promise(() => {});
    });
    await started(sessions);
    await started(sessions);
    const swept = sessions.sweep();
    await until('both notices', () => notices.length === 2);
    clock.move(10_000);
    await swept;
    clock.move(1000);
    await until('both again', () => notices.length === 4);
  });

  it('is brought once, though two processes look after the store while the notice takes its time', async () => {
    let isSent = (): void => {};
    const { sessions, notices, node, store } = office(approval, (notice) => {
      notices.push(notice);
      return new Promise<void>((resolve) => (isSent = resolve));
    });
    const { sessionId } = await started(sessions);
    const other = node();
    const swept = sessions.sweep();
    await until('the notice', () => notices.length === 1);
    await other.sessions.sweep();
    // Something else is written meanwhile.
    const { header } = (await store.load(sessionId))!;
    await store.commit(sessionId, header.rev, { patch: { lastActivityAt: header.lastActivityAt + 1 } });
    isSent();
    await swept;
    await other.sessions.sweep();
    expect(notices).toHaveLength(1);
    expect((await store.load(sessionId))!.header.current).toMatchObject([{ person: { told: 1 } }]);
  });

  it('is not brought again to a person whose answer was refused', async () => {
    const { sessions, notices } = office(async (ask) => ask.person('ops-lead').number('count', { min: 2 }));
    const { answerAs } = await started(sessions);
    await sessions.sweep();
    expect(await answerAs('ops-lead', 'count~1', 1)).toMatchObject({
      accepted: false,
      questions: [{ promptId: 'count~2' }],
    });
    await sessions.sweep();
    expect(notices).toHaveLength(1);
    expect(await answerAs('ops-lead', 'count~2', 2)).toMatchObject({ accepted: true });
  });

  it('can be declined by the person, who cannot end the session of the caller', async () => {
    const { sessions } = office(async (ask) => ask.try(ask.person('ops-lead').text('why')));
    const { turn, sessionId } = await started(sessions);
    const answers = [{ promptId: 'why~1', no: 'cancelled' as const }];
    const last = settled(turn);
    await sessions.answer({ principal: 'ops-lead', sessionId, answers });
    expect(await last).toMatchObject({ header: { state: 'completed' }, result: { ok: false, reason: 'declined' } });
  });

  it('can be handed over only by the person who is asked', async () => {
    const { sessions, notices } = office(approval);
    const { sessionId, answerAs } = await started(sessions);
    const handOver = (principal: string, to: string) =>
      sessions.handOver({ principal, sessionId, promptId: 'approve~1', to });
    await expect(handOver('ada', 'ada')).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    await expect(handOver('eve', 'eve')).rejects.toMatchObject({ code: 'FLOW_SESSION_NOT_FOUND' });
    await handOver('ops-lead', 'deputy');
    await sessions.sweep();
    await until('the notice', () => notices.some(({ person }) => person === 'deputy'));
    await expect(answerAs('ops-lead', 'approve~1', true)).rejects.toMatchObject({ code: 'FLOW_SESSION_NOT_FOUND' });
    expect((await answerAs('deputy', 'approve~1', true)).accepted).toBe(true);
    expect((await answerAs('ada', 'note~1', 'x')).result).toEqual({ ok: true, note: 'x' });
  });

  it('that was handed over goes back to the person whom the body asks, once the caller has changed what it depends on', async () => {
    const { sessions } = office(async (ask) => {
      const version = await ask.text('version');
      const lead = ask.person(version === '3' ? 'cto' : 'ops-lead', { handOver: ['ada'] });
      return lead.confirm('approve', { message: 'Release it?' });
    });
    const { sessionId, answerAs } = await started(sessions);
    await answerAs('ada', 'version~1', '2');
    await sessions.handOver({ principal: 'ops-lead', sessionId, promptId: 'approve~1', to: 'ada' });
    const edit = (value: string) => sessions.edit({ principal: 'ada', sessionId, key: 'version', value });
    expect((await edit('3')).header.current).toMatchObject([{ promptId: 'approve~2', person: { principal: 'cto' } }]);
    await expect(answerAs('ada', 'approve~2', true)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    expect((await edit('2')).header.current).toMatchObject([{ person: { principal: 'ops-lead' } }]);
  });

  it('is handed over a limited number of times, and only to a person with a name', async () => {
    const { sessions } = office(approval);
    const { sessionId } = await started(sessions);
    const handOver = (to: string) => sessions.handOver({ principal: 'ops-lead', sessionId, promptId: 'approve~1', to });
    for (const to of ['', ' ', 'x'.repeat(501)]) {
      await expect(handOver(to)).rejects.toMatchObject({ code: 'FLOW_VALIDATION_FAILED' });
    }
    for (let times = 0; times < 20; times++) await handOver('ops-lead');
    await expect(handOver('ops-lead')).rejects.toMatchObject({ code: 'FLOW_LIMIT', details: { limit: 'handOvers' } });
  });

  it('is consent to what the caller had said by then, and asked for again when that is changed', async () => {
    const { sessions } = office(async (ask) => {
      const version = await ask.text('version');
      const ok = await ask.person('ops-lead').confirm('approve', { message: 'Release it?' });
      const why = await ask.person('ops-lead').text('why');
      return [version, ok, why, await ask.text('note')];
    });
    const { sessionId, answerAs } = await started(sessions);
    await answerAs('ada', 'version~1', '2');
    await answerAs('ops-lead', 'approve~1', true);
    await answerAs('ops-lead', 'why~1', 'tested');
    const edited = await sessions.edit({ principal: 'ada', sessionId, key: 'version', value: '3' });
    expect(edited.header.current).toMatchObject([{ promptId: 'approve~2', person: { principal: 'ops-lead' } }]);
    await answerAs('ops-lead', 'approve~2', false);
    expect((await answerAs('ada', 'note~2', 'x')).result).toEqual(['3', false, 'tested', 'x']);
  });

  it('gives away neither what was answered to it nor what the caller has answered to those who try', async () => {
    const { sessions } = office(async (ask) => {
      await ask.text('own', { secret: true });
      await ask.person('ops-lead').text('pin', { secret: true });
      await ask.text('note');
      return ask.person('ops-lead').text('last');
    });
    const { answerAs } = await started(sessions);
    await answerAs('ada', 'own~1', 'swordfish');
    await answerAs('ops-lead', 'pin~1', '4711');
    for (const value of ['4711', '4712']) {
      await expect(answerAs('ada', 'pin~1', value)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    }
    await expect(answerAs('ops-lead', 'own~1', 'swordfish')).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    expect((await answerAs('ops-lead', 'pin~1', '4711')).accepted).toBe(true);
    expect((await answerAs('ada', 'own~1', 'swordfish')).accepted).toBe(true);
    await answerAs('ada', 'note~1', 'x');
    await answerAs('ops-lead', 'last~1', 'the end');
    await expect(answerAs('ada', 'last~1', 'the end')).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
  });

  it('waits no longer because the caller answers another one meanwhile', async () => {
    const { sessions, clock } = office(async (ask) => {
      const lead = ask.person('ops-lead').confirm('approve', { timeout: '1h', onTimeout: 'default', default: false });
      const own = async () => [await ask.text('first'), await ask.text('second'), await ask.text('third')];
      return Promise.all([lead, own()]);
    });
    const { answerAs } = await started(sessions);
    clock.move(HOUR / 2);
    await answerAs('ada', 'first~1', 'x');
    clock.move(HOUR / 2);
    await answerAs('ada', 'second~1', 'x');
    await expect(answerAs('ops-lead', 'approve~1', true)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    expect((await answerAs('ada', 'third~1', 'x')).result).toEqual([false, ['x', 'x', 'x']]);
  });

  it('is withdrawn when it has lost a race', async () => {
    const { sessions, clock } = office(async (ask) => {
      const ok = await Promise.race([ask.person('ops-lead').confirm('approve'), ask.sleep('patience', '1h')]);
      return [ok ?? 'late', await ask.text('note')];
    });
    const { answerAs } = await started(sessions);
    clock.move(HOUR);
    await sessions.sweep();
    await expect(answerAs('ops-lead', 'approve~1', true)).rejects.toMatchObject({ code: 'FLOW_SESSION_NOT_FOUND' });
    expect((await answerAs('ada', 'note~1', 'x')).result).toEqual(['late', 'x']);
  });

  it('is answered by testFlow, wherever the process dies', async () => {
    const tool = flow({ name: 'release', limits: { duration: '2d' } }, approval);
    const { result } = await testFlow(tool).crashEverywhere({ approve: true, note: 'x' });
    expect(result).toEqual({ ok: true, note: 'x' });
  });

  it('is open at the same time as a question to the caller', async () => {
    const { sessions } = office(async (ask) =>
      Promise.all([ask.person('ops-lead').confirm('approve'), ask.text('note')]),
    );
    const { turn, answerAs } = await started(sessions);
    expect(turn.questions.map(({ key }) => key)).toEqual(['note']);
    const waiting = await answerAs('ada', 'note~1', 'x');
    expect(waiting.questions).toEqual([]);
    const last = settled(waiting);
    await answerAs('ops-lead', 'approve~1', true);
    expect((await last).result).toEqual([true, 'x']);
  });
});
