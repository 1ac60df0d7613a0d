// After an earlier answer was changed, a later one counts again only for the question that was shown.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import { createTokens } from '../token/tokens.ts';
import { TokenSessions } from '../token/token-sessions.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';
import type { Turn } from './turn/turn.ts';

const me = { principal: 'me' };
type Body = (ask: Ask) => Promise<unknown>;

async function played(body: Body, answers: unknown[], warm = 0) {
  const sessions = new Sessions([flow({ name: 'x' }, body)], {
    warm,
    limits: { respondsPerSecond: 1000 },
  });
  let turn = await sessions.start({ ...me, tool: 'x' });
  const session = { ...me, sessionId: turn.header.id };
  const answer = async (value: unknown) => settled(await sessions.answer({ ...session, answers: [{ value }] }));
  for (const value of answers) turn = await answer(value);
  const edit = (key: string, value: unknown) => sessions.edit({ ...session, key, value });
  return { sessions, session, turn, answer, edit, state: () => sessions.getState(session) };
}

const messages = ({ questions }: Turn) => questions.map(({ prompt }) => prompt.message);

const FRUITS = ['apples', 'pears', 'plums'];

/** Says nowhere but in the first question what it is about. */
const counted: Body = async (ask) => {
  const order: Record<string, number> = {};
  for (const fruit of FRUITS) {
    if (await ask.confirm('want', { message: `Some ${fruit}?` }))
      order[fruit] = await ask.number('count', { message: 'How many?' });
  }
  await ask.confirm('ok', { message: `Order ${JSON.stringify(order)}?` });
  return order;
};

const scoped: Body = async (ask) => {
  const order: Record<string, number> = {};
  for (const fruit of FRUITS) {
    const about = ask.scope(fruit);
    if (await about.confirm('want', { message: 'Some?' }))
      order[fruit] = await about.number('count', { message: 'How many?' });
  }
  await ask.confirm('ok', { message: `Order ${JSON.stringify(order)}?` });
  return order;
};

describe.each([0, 10])('an answer in a loop (%s bodies in memory)', (warm) => {
  it('does not move to another turn of it when an earlier turn asks less', async () => {
    const { turn, edit, answer, state } = await played(counted, [true, 1, true, 20, false], warm);
    expect(messages(turn)).toEqual(['Order {"apples":1,"pears":20}?']);
    expect(messages(await edit('want', false))).toEqual(['How many?']);
    expect((await state()).data).not.toHaveProperty('count');
    expect(messages(await answer(20))).toEqual(['Order {"pears":20}?']);
  });

  it('comes back with the question it was given to', async () => {
    const { edit, answer } = await played(counted, [true, 1, true, 20, false], warm);
    await edit('want', false);
    await answer(7);
    expect(messages(await edit('want', true))).toEqual(['Order {"apples":1,"pears":20}?']);
  });

  it('keeps to the thing that its scope names', async () => {
    const { turn, edit, state } = await played(scoped, [true, 1, true, 20, false], warm);
    expect(messages(turn)).toEqual(['Order {"apples":1,"pears":20}?']);
    expect(messages(await edit('apples.want', false))).toEqual(['Order {"pears":20}?']);
    expect((await state()).data).toEqual({
      'apples.want': false,
      'pears.want': true,
      'pears.count': 20,
      'plums.want': false,
    });
  });
});

/** Each question depends on the first answer. */
const quiz: Body = async (ask) => {
  const level = await ask.number('level', { message: 'Level?' });
  const first = await ask.text('q', { message: `Q2 (level ${level})` });
  const same = await ask.choice('color', level > 1 ? ['red', 'blue'] : ['red', 'green'], { message: 'Color?' });
  const last = await ask.text('name', { message: 'Name?' });
  await ask.confirm('ok', { message: 'All right?' });
  return { level, first, same, last };
};

describe('after an edit', () => {
  it('what is asked in other words, or with other choices, is asked again, and the rest is kept', async () => {
    const { edit, answer, turn } = await played(quiz, [3, 'three', 'red', 'Ada']);
    expect(messages(turn)).toEqual(['All right?']);
    expect(messages(await edit('level', 1))).toEqual(['Q2 (level 1)']);
    expect(messages(await answer('one'))).toEqual(['Color?']);
    expect(messages(await answer('green'))).toEqual(['All right?']);
  });

  it('history and data have what was shown and still counts', async () => {
    const { edit, answer, state } = await played(quiz, [3, 'three', 'red', 'Ada']);
    const words = async () => (await state()).history.map(({ prompt, response }) => [prompt.message, response.value]);
    await edit('level', 1);
    expect(await words()).toEqual([['Level?', 1]]);
    expect((await state()).data).toEqual({ level: 1 });
    await answer('one');
    await answer('green');
    expect(await words()).toEqual([
      ['Level?', 1],
      ['Name?', 'Ada'],
      ['Q2 (level 1)', 'one'],
      ['Color?', 'green'],
    ]);
    expect((await state()).data).toEqual({ level: 1, q: 'one', color: 'green', name: 'Ada' });
  });

  it('a consent that is asked for again is not in the data', async () => {
    const order: Body = async (ask) => {
      const count = await ask.number('count', { message: 'How many?' });
      const ok = await ask.confirm('ok', { message: `Order ${count}?` });
      return [count, ok, await ask.text('note', { message: 'Note?' })];
    };
    const { edit, state } = await played(order, [1, true]);
    expect(messages(await edit('count', 5))).toEqual(['Order 5?']);
    expect((await state()).data).toEqual({ count: 5 });
  });
});

it('history has the words that were shown, though the flow has others now', async () => {
  const ask = (message: string) =>
    flow({ name: 'x' }, async (one) => [await one.text('a', { message }), await one.text('b')]);
  const { sessions, session } = await (async () => {
    const first = new Sessions([ask('Old words?')]);
    const { header } = await first.start({ ...me, tool: 'x' });
    const of = { ...me, sessionId: header.id };
    await first.answer({ ...of, answers: [{ value: 'x' }] });
    return { sessions: new Sessions([ask('New words?')], { store: first.context.store }), session: of };
  })();
  expect((await sessions.getState(session)).history).toMatchObject([{ prompt: { message: 'Old words?' } }]);
});

it('a consent that is reworded while it waits is asked for again', async () => {
  const pay = (message: string) => flow({ name: 'x' }, (ask) => ask.confirm('ok', { message }));
  const first = new Sessions([pay('Pay 10?')]);
  const { header } = await first.start({ ...me, tool: 'x' });
  const next = new Sessions([pay('Pay 1000?')], { store: first.context.store });
  const turn = await next.answer({ ...me, sessionId: header.id, answers: [{ promptId: 'ok~1', value: true }] });
  expect(turn).toMatchObject({ accepted: false, header: { state: 'waiting_user' } });
  expect(messages(turn)).toEqual(['Pay 1000?']);
});

it('a session in a token keeps to it as well', async () => {
  const tokens = createTokens({ keys: [Buffer.alloc(32, 1).toString('base64')] });
  const tokenSessions = new TokenSessions([flow({ name: 'x' }, counted)], {
    tokens,
    limits: { respondsPerSecond: 1000 },
  });
  const bearer = { ...me, tool: 'x', method: 'interaction' };
  let { token, turn } = await tokenSessions.start({ ...me, tool: 'x' }, bearer);
  const go = async (act: (session: { principal: string; sessionId: string }, sessions: Sessions) => Promise<Turn>) => {
    const gone = await tokenSessions.go(token!, bearer, ({ id }, sessions) => act({ ...me, sessionId: id }, sessions));
    ({ token, turn } = gone);
  };
  for (const value of [true, 1, true, 20, false]) {
    await go((session, sessions) => sessions.answer({ ...session, answers: [{ value }] }));
  }
  expect(messages(turn)).toEqual(['Order {"apples":1,"pears":20}?']);
  await go((session, sessions) => sessions.edit({ ...session, key: 'want', value: false }));
  expect(messages(turn)).toEqual(['How many?']);
  const { history } = await tokenSessions.getState(token!, bearer);
  expect(history.map(({ prompt }) => prompt.message)).toEqual(['Some apples?', 'Some pears?']);
});
