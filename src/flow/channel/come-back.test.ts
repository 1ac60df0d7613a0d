// A client without a connection whose call was kept and then lost, because the process died: its user calls the tool afresh.
import { expect, it } from 'vitest';
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { readSuspended } from '../../kernel/target.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { createTokens } from '../token/tokens.ts';
import { TokenSessions } from '../token/token-sessions.ts';
import { callFlow } from './call-flow.ts';
import { CallReceipts, SentResults } from './call-receipts.ts';
import { callWithToken } from './token-call.ts';

const login = flow({ name: 'login' }, async (ask) => {
  const name = await ask.text('name', { alone: true });
  await ask.text('password', { secret: true, alone: true });
  return { name };
});

function process() {
  const options = { keys: ['the same everywhere'], store };
  const sessions = new Sessions([login], options);
  const tokens = createTokens({ keys: ['the same everywhere'] });
  return {
    sessions,
    tokenSessions: new TokenSessions([login], { tokens, shared: store }),
    waiting: new Map<string, Exchange>(),
    receipts: new CallReceipts(),
    sent: new SentResults(sessions.context),
  };
}
let store = memoryStore();

const fields: JsonObject = { name: 'Ada', password: 'hunter2', resume: true };

function exchangeOf(asked: string[] = []): Exchange {
  const ask = async ({ params }: Ask) => {
    const { message, requestedSchema } = params as { message: string; requestedSchema: { properties: object } };
    asked.push(message);
    const names = Object.keys(requestedSchema.properties);
    return { action: 'accept', content: Object.fromEntries(names.map((name) => [name, fields[name]])) };
  };
  const { signal } = new AbortController();
  const client = { principal: 'me', info: { name: 'test', version: '1' } };
  const call = { method: 'tools/call', params: { name: 'login', arguments: {} }, client };
  return { ...call, maySuspend: true, canAsk: () => true, ask, signal } as unknown as Exchange;
}

/** It was asked for its password, on the page, when its process died. */
async function kept() {
  store = memoryStore();
  const before = process();
  const start = { principal: 'me', tool: 'login', args: {} };
  const exchange = exchangeOf();
  const { suspended } = await callWithToken(exchange, start, before);
  const answers = { name: { action: 'accept', content: { name: 'Ada' } } };
  const resumed = { ...exchange, resumed: { state: readSuspended(suspended!)!.state, answers } } as unknown as Exchange;
  const { turn } = await callWithToken(resumed, start, before);
  await before.sessions.close();
  return { ...process(), sessionId: turn.header.id };
}

it('a client that comes back is offered to continue, and is asked only what it has not answered', async () => {
  const { sessionId: _, ...called } = await kept();
  const asked: string[] = [];
  expect(await callFlow(exchangeOf(asked), login, called)).toMatchObject({ structuredContent: { name: 'Ada' } });
  expect(asked).toEqual([
    'You started this before and answered one question. The next question is: Password',
    'Password',
  ]);
  await called.sessions.close();
});

it('a client that comes back is offered the outcome of a session that has ended since', async () => {
  const { sessionId, ...called } = await kept();
  await called.sessions.answer({ principal: 'me', sessionId, answers: [{ value: 'hunter2' }], via: 'page' });
  const asked: string[] = [];
  expect(await callFlow(exchangeOf(asked), login, called)).toMatchObject({ structuredContent: { name: 'Ada' } });
  expect(asked).toEqual(['You started this before, and it has ended since. You may already have seen how.']);
  await called.sessions.close();
});
