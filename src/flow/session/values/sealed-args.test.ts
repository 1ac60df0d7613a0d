// Arguments of flows whose questions are not known beforehand: they answer questions, and secrets among them are never stored.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../../authoring/ask.ts';
import { flow } from '../../define.ts';
import type { FlowOptions } from '../../define.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { createTokens } from '../../token/tokens.ts';
import { TokenSessions } from '../../token/token-sessions.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { Sessions } from '../sessions.ts';

const me = { principal: 'me' };
const log = createLog({ level: 'silent' });
const WORD = 'hunter2-marker';
const args = { password: WORD, city: 'Oslo' };

const body = async (ask: Ask, input: unknown) => {
  await ask.text('first', { alone: true });
  const city = await ask.text('city');
  await ask.text('password', { secret: true, alone: true });
  return { city, input: (input as { city?: string }).city };
};

/** In each turn another process. */
function cluster(options: Partial<FlowOptions> = {}, keys: (turn: number) => string[] = () => ['key']) {
  const store = memoryStore();
  let turns = 0;
  const process = () =>
    new Sessions([flow({ name: 'x', explore: false, ...options }, body)], { store, log, keys: keys(turns++) });
  const written = async (id: string) => JSON.stringify(await store.load(id));
  return { process, written };
}

describe('arguments of a flow that is not explored', () => {
  it('answer their questions in any process, and the secret among them is asked for', async () => {
    const { process, written } = cluster();
    const { header } = await process().start({ ...me, tool: 'x', args });
    const session = { ...me, sessionId: header.id };
    expect(await written(header.id)).not.toContain(WORD);
    const turn = await process().answer({ ...session, answers: [{ value: '1' }] });
    expect(turn.questions.map(({ key }) => key)).toEqual(['password']);
    expect((await process().getState(session)).data).toEqual({ first: '1', city: 'Oslo' });
    const { result } = await process().answer({ ...session, answers: [{ value: WORD }] });
    expect(result).toEqual({ city: 'Oslo', input: 'Oslo' });
    expect(await written(header.id)).not.toContain(WORD);
  });

  it('are as good as not given where the keys are others', async () => {
    const { process } = cluster({}, (turn) => [`key ${turn}`]);
    const { header } = await process().start({ ...me, tool: 'x', args });
    const turn = await process().answer({ ...me, sessionId: header.id, answers: [{ value: '1' }] });
    expect(turn.questions.map(({ key }) => key)).toEqual(['city']);
  });

  it('travel in a token', async () => {
    const tokens = createTokens({ keys: ['a key of this test'] });
    const tool = flow({ name: 'x', explore: false }, body);
    const tokenSessions = () => new TokenSessions([tool], { tokens, log, keys: ['key'] });
    const bearer = { ...me, tool: 'x', method: 'm' };
    const { token, session } = await tokenSessions().start({ ...me, tool: 'x', args }, bearer);
    expect(JSON.stringify(session)).not.toContain(WORD);
    const { turn } = await tokenSessions().go(token!, bearer, ({ id }, sessions) =>
      sessions.answer({ ...me, sessionId: id, answers: [{ value: '1' }] }),
    );
    expect(turn.questions.map(({ key }) => key)).toEqual(['password']);
  });

  it('that the author declares are not secrets', async () => {
    const input = { type: 'object', properties: { password: { type: 'string' } } };
    const { process } = cluster({ input });
    const { header } = await process().start({ ...me, tool: 'x' });
    const session = { ...me, sessionId: header.id };
    await process().answer({ ...session, answers: [{ value: '1' }] });
    const { failure } = await process().answer({ ...session, answers: [{ value: 'Oslo' }] });
    expect(failure).toMatchObject({
      name: 'FLOW_MISUSED',
      message: expect.stringContaining('the secret password'),
    });
  });
});
