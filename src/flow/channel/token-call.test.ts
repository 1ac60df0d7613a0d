// A call whose questions are for our page is kept while it waits, and no longer. Its client may come back for it.
import { expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { Exchange } from '../../kernel/exchange.ts';
import { readSuspended } from '../../kernel/target.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createTokens } from '../token/tokens.ts';
import { TokenSessions } from '../token/token-sessions.ts';
import { callWithToken } from './token-call.ts';

it('a session that was moved to the store expires if nobody answers', async () => {
  const clock = manualClock();
  const login = flow({ name: 'login' }, (ask) => ask.text('password', { secret: true }));
  const sessions = new Sessions([login], { clock });
  const tokens = createTokens({ keys: ['a key of this test'], clock });
  const tokenSessions = new TokenSessions([login], { tokens, clock, shared: sessions.context.store });
  const exchange = { method: 'tools/call', maySuspend: true, canAsk: () => true } as unknown as Exchange;
  await callWithToken(exchange, { principal: 'me', tool: 'login', args: {} }, { sessions, tokenSessions });
  expect(await sessions.list('me')).toHaveLength(1);
  await until('it to expire', async () => {
    clock.move(60_000);
    return (await sessions.list('me')).length === 0;
  });
  await sessions.close();
});

it('a stored session continues where it stands when its old state is sent again', async () => {
  const login = flow({ name: 'login' }, async (ask) => [
    await ask.text('name', { alone: true }),
    await ask.text('password', { secret: true }),
  ]);
  const sessions = new Sessions([login]);
  const tokens = createTokens({ keys: ['a key of this test'] });
  const tokenSessions = new TokenSessions([login], { tokens, shared: sessions.context.store });
  const begin = { principal: 'me', tool: 'login', args: {} };
  const { signal } = new AbortController();
  const exchange = { method: 'tools/call', maySuspend: true, canAsk: () => true, signal } as unknown as Exchange;
  const { suspended } = await callWithToken(exchange, begin, { sessions, tokenSessions });
  const answers = { name: { action: 'accept', content: { name: 'Ada' } } };
  const resumed = { ...exchange, resumed: { state: readSuspended(suspended!)!.state, answers } } as unknown as Exchange;
  const first = await callWithToken(resumed, begin, { sessions, tokenSessions });
  const again = await callWithToken(resumed, begin, { sessions, tokenSessions });
  expect(again.turn.questions).toEqual(first.turn.questions);
  expect(await sessions.list('me')).toHaveLength(1);
  await sessions.cancel({ principal: 'me', sessionId: first.turn.header.id });
  await expect(callWithToken(resumed, begin, { sessions, tokenSessions })).rejects.toMatchObject({
    code: 'FLOW_INVALID_TRANSITION',
  });
  await sessions.close();
});

it('a session is stored when an answer leads to a question for another person, who can then answer', async () => {
  const release = flow({ name: 'release' }, async (ask) => [
    await ask.text('version'),
    await ask.person('ops-lead').confirm('approve'),
  ]);
  const sessions = new Sessions([release]);
  const tokens = createTokens({ keys: ['a key of this test'] });
  const tokenSessions = new TokenSessions([release], { tokens, shared: sessions.context.store, mayOutgrow: true });
  const begin = { principal: 'me', tool: 'release', args: {} };
  const { signal } = new AbortController();
  const exchange = { method: 'tools/call', maySuspend: true, canAsk: () => true, signal } as unknown as Exchange;
  const { suspended } = await callWithToken(exchange, begin, { sessions, tokenSessions });
  const answers = { version: { action: 'accept', content: { version: '2.0' } } };
  const resumed = { ...exchange, resumed: { state: readSuspended(suspended!)!.state, answers } } as unknown as Exchange;
  const { turn } = await callWithToken(resumed, begin, { sessions, tokenSessions });
  const { id: sessionId } = turn.header;
  const later = turn.later!();
  await sessions.answer({ principal: 'ops-lead', sessionId, answers: [{ value: true }] });
  expect((await later).result).toEqual(['2.0', true]);
  await sessions.close();
});

it('the state of a question is good for as long as its session', async () => {
  const clock = manualClock();
  const survey = flow({ name: 'survey', timeout: '40m' }, (ask) => ask.text('city'));
  const sessions = new Sessions([survey], { clock });
  const tokenSessions = new TokenSessions([survey], {
    tokens: createTokens({ keys: ['a key of this test'], clock }),
    clock,
  });
  const exchange = { method: 'tools/call', maySuspend: true, canAsk: () => true } as unknown as Exchange;
  const begin = { principal: 'me', tool: 'survey', args: {} };
  const { suspended } = await callWithToken(exchange, begin, { sessions, tokenSessions });
  expect(readSuspended(suspended!)).toMatchObject({ lastsMs: 40 * 60_000 });
  await sessions.close();
});
