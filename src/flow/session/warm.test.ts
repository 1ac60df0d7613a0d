// A body that waits in memory does what a replayed one does: the same programs, the same answers, the same turns.
import { describe, expect, it } from 'vitest';
import { play, randomProgram, seeded } from '../../../tests/helpers/flow-programs.ts';
import type { Random } from '../../../tests/helpers/flow-programs.ts';
import { flow } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';
import type { Turn } from './turn/turn.ts';

const me = { principal: 'me' };
const log = createLog({ level: 'silent' });

function sessionsOf(subject: ReturnType<typeof flow>, warm: number, store = memoryStore()): Sessions {
  const fixed = { newId: () => 'session_AAAAAAAAAAAAAAAAAAAAAA', newSeed: () => 'AAAAAAAAAAAAAAAAAAAAAA' };
  const limits = { respondsPerSecond: 1e9, attemptsPerQuestion: 2 };
  return new Sessions([subject], { ...fixed, limits, clock: manualClock(), log, store, warm, checks: 'off' });
}

/** All that its turns say, and how they end. Answers are right or wrong, alone or together, and sometimes taken back. */
async function lived(seed: number, warm: number): Promise<unknown[]> {
  const random = seeded(seed);
  const program = randomProgram(random);
  const subject = flow({ name: 'x', explore: seed % 2 === 0 }, async (ask) => {
    const said: string[] = [];
    await play(program, ask, said);
    return said;
  });
  const sessions = sessionsOf(subject, warm);
  const seen: unknown[] = [];
  let turn = await settled(await sessions.start({ ...me, tool: 'x' }));
  for (let at = 0; turn.questions.length > 0 && at < 40; at++) {
    const next = await moved(sessions, turn, random).catch((error: Error) => error.message);
    if (typeof next !== 'string') turn = await settled(next);
    seen.push(JSON.parse(JSON.stringify([next, turn])));
  }
  await sessions.close();
  return seen;
}

function moved(sessions: Sessions, { header, questions }: Turn, random: Random): Promise<Turn> {
  const session = { ...me, sessionId: header.id };
  const roll = random();
  if (roll < 0.06) return sessions.back(session);
  if (roll < 0.1) return sessions.extend(session);
  const count = 1 + Math.floor(random() * questions.length);
  const answers = questions.slice(0, count).map(({ promptId, kind }) => ({ promptId, value: answerOf(kind, random) }));
  if (roll < 0.15) answers[0]!.promptId = 'nobody~1';
  return sessions.answer({ ...session, answers });
}

function answerOf(kind: string, random: Random): unknown {
  if (random() < 0.2) return { not: 'an answer' };
  const number = Math.floor(random() * 10);
  return kind === 'confirm' ? number < 5 : kind === 'number' ? number : `v${number}`;
}

describe('bodies that wait in memory', () => {
  it('do what replayed ones do, in 300 random sessions', async () => {
    for (let seed = 1; seed <= 300; seed++) {
      const [cold, warm] = [await lived(seed, 0), await lived(seed, 10)];
      expect(warm, `seed ${seed}`).toEqual(cold);
    }
  });

  const counted = () => {
    const seen = { runs: 0 };
    const subject = flow({ name: 'x', explore: false }, async (ask) => {
      seen.runs++;
      return [await ask.text('a'), await ask.text('b'), await ask.text('c')];
    });
    return { subject, seen };
  };
  const answer = (sessions: Sessions, { header }: Turn, value: string) =>
    sessions.answer({ ...me, sessionId: header.id, answers: [{ value }] });

  it('are run once', async () => {
    const { subject, seen } = counted();
    const sessions = sessionsOf(subject, 1);
    let turn = await sessions.start({ ...me, tool: 'x' });
    for (const value of ['1', '2', '3']) turn = await answer(sessions, turn, value);
    expect(turn.result).toEqual(['1', '2', '3']);
    expect(seen.runs).toBe(1);
  });

  it('are not resumed when another process has written meanwhile', async () => {
    const { subject, seen } = counted();
    const store = memoryStore();
    const [here, there] = [sessionsOf(subject, 1, store), sessionsOf(subject, 1, store)];
    const first = await here.start({ ...me, tool: 'x' });
    await answer(there, first, '1');
    const turn = await here.answer({ ...me, sessionId: first.header.id, answers: [{ promptId: 'b~1', value: '2' }] });
    expect(turn.questions).toMatchObject([{ key: 'c' }]);
    const old = { ...me, sessionId: first.header.id, answers: [{ promptId: 'c~1', value: '3' }] };
    await there.cancel({ ...me, sessionId: first.header.id });
    await expect(here.answer(old)).rejects.toMatchObject({ code: 'FLOW_ALREADY_CANCELLED' });
    expect(seen.runs).toBeGreaterThan(1);
  });

  it('are forgotten beyond their number, and replayed', async () => {
    const { subject, seen } = counted();
    const store = memoryStore();
    const ids = ['session_one', 'session_two'];
    const sessions = new Sessions([subject], { store, log, warm: 1, newId: () => ids.shift()!, checks: 'off' });
    const turns = [await sessions.start({ ...me, tool: 'x' }), await sessions.start({ ...me, tool: 'x' })];
    for (const turn of turns) await answer(sessions, turn, '1');
    expect(seen.runs).toBe(4);
    expect(sessions.context.warmBodies.get('session_one')).toBeUndefined();
    await sessions.cancel({ ...me, sessionId: 'session_two' });
    expect(sessions.context.warmBodies.get('session_two')).toBeUndefined();
  });

  it('are resumed only by their owner', async () => {
    const { subject } = counted();
    const sessions = sessionsOf(subject, 1);
    const { header } = await sessions.start({ ...me, tool: 'x' });
    const foreign = { principal: 'you', sessionId: header.id, answers: [{ value: 'mine' }] };
    await expect(sessions.answer(foreign)).rejects.toMatchObject({ code: 'FLOW_SESSION_NOT_FOUND' });
    expect(sessions.context.warmBodies.get(header.id)).toBeDefined();
  });
});
