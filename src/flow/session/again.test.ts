// A repeated answer is a retry after a lost reply, and is accepted; a different answer to the same question comes too late.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import { createLog } from '../../kernel/base/log.ts';
import { until } from '../../../tests/helpers/until.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';

const me = { principal: 'me' };
const file = (text: string, name = 'a.txt') => ({
  name,
  mimeType: 'text/plain',
  data: Buffer.from(text).toString('base64'),
});

const KINDS: Record<string, { ask: (ask: Ask) => Promise<unknown>; given: unknown; others: unknown[] }> = {
  text: { ask: (ask) => ask.text('q', { alone: true }), given: 'x', others: ['y', '', null] },
  number: { ask: (ask) => ask.number('q', { alone: true }), given: 1, others: [2, '1'] },
  confirm: { ask: (ask) => ask.confirm('q', { alone: true }), given: false, others: [true, null] },
  choices: { ask: (ask) => ask.choices('q', ['a', 'b'], { alone: true }), given: ['a'], others: [['b'], []] },
  custom: { ask: (ask) => ask.custom('q', { alone: true }), given: { a: [1] }, others: [{ a: [1], b: 2 }] },
  'a default': {
    ask: (ask) => ask.text('q', { alone: true, required: false, default: 'd' }),
    given: null,
    others: ['other'],
  },
  'a file': {
    ask: (ask) => ask.file('q', { alone: true }),
    given: file('abc'),
    others: [file('abd'), file('abc', 'b.txt'), 'abc'],
  },
  'a secret': {
    ask: (ask) => ask.text('q', { alone: true, secret: true }),
    given: 'hunter2',
    others: ['hunter3', { $secret: 'x' }, ''],
  },
};

const CASES = Object.entries(KINDS).flatMap(([name, kind]) => [0, 10].map((warm) => ({ name, warm, ...kind })));

describe.each(CASES)('$name ($warm bodies in memory)', ({ warm, ask, given, others }) => {
  const begun = async () => {
    const tool = flow({ name: 'x' }, async (one) => [await ask(one), await one.text('next')]);
    const sessions = new Sessions([tool], { warm, log: createLog({ level: 'silent' }) });
    const { header } = await sessions.start({ ...me, tool: 'x' });
    const answer = (value: unknown) =>
      sessions.answer({ ...me, sessionId: header.id, answers: [{ promptId: 'q~1', value }] });
    const revision = async () => (await sessions.getState({ ...me, sessionId: header.id })).header.rev;
    return { answer, revision };
  };

  it('again is accepted again, and changes nothing', async () => {
    const { answer, revision } = await begun();
    expect(await answer(given)).toMatchObject({ accepted: true, questions: [{ key: 'next' }] });
    const before = await revision();
    expect(await answer(given)).toMatchObject({
      accepted: true,
      questions: [{ key: 'next' }],
      verdicts: { 'q~1': { valid: true } },
    });
    expect(await revision()).toBe(before);
  });

  it('of which two come at once counts once', async () => {
    const { answer, revision } = await begun();
    const turns = await Promise.all([answer(given), answer(given), answer(given)]);
    expect(turns.map(({ accepted }) => accepted)).toEqual([true, true, true]);
    expect(await revision()).toBe(1);
  });

  it('another comes too late', async () => {
    const { answer, revision } = await begun();
    await answer(given);
    const before = await revision();
    for (const other of others) {
      await expect(answer(other), JSON.stringify(other)).rejects.toMatchObject({
        code: 'FLOW_INVALID_TRANSITION',
        details: { currentPrompt: { type: 'text' } },
      });
    }
    expect(await revision()).toBe(before);
  });
});

it('the last answer is accepted again while effects are being undone', async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const refused = flow({ name: 'refused' }, async (ask) => {
    await ask.step('work', async () => 'worked', { effect: 'retry', undo: () => new Promise<never>(() => {}) });
    await ask.text('sure');
    throw new Error('nobody wants it');
  });
  const make = () => new Sessions([refused], { clock, store, keys: ['the same'], log: createLog({ level: 'silent' }) });
  const first = make();
  const { header } = await settled(await first.start({ principal: 'me', tool: 'refused' }));
  const answer = { principal: 'me', sessionId: header.id, answers: [{ promptId: 'sure~1', value: 'no' }] };
  void first.answer(answer); // it waits for the undo
  await until('it to be ending', async () => (await store.load(header.id))?.header.pending !== undefined);
  expect(await make().answer(answer)).toMatchObject({ accepted: true });
  const other = { ...answer, answers: [{ promptId: 'sure~1', value: 'yes' }] };
  await expect(make().answer(other)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
});
