import { expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import type { ReceiptRequest } from '../../kernel/interaction.ts';
import { RECEIPT, readReceiptRequest } from '../../kernel/interaction.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { createTokens } from '../token/tokens.ts';
import { TokenSessions } from '../token/token-sessions.ts';
import { callFlow } from './call-flow.ts';
import { CallReceipts, SentResults } from './call-receipts.ts';

const KEYS = ['the same everywhere'];
const order = flow({ name: 'order' }, async (ask) => ask.step('pay', () => 'paid', { effect: 'retry' }));

/** A server, and the gateway `desk` in front of it, which is one principal to the server. */
function createDesk() {
  const store = memoryStore();
  const sessions = new Sessions([order], { keys: KEYS, store });
  const tokenSessions = new TokenSessions([order], { tokens: createTokens({ keys: KEYS }), shared: store });
  const context = {
    sessions,
    tokenSessions,
    waiting: new Map<string, Exchange>(),
    receipts: new CallReceipts(),
    sent: new SentResults(sessions.context),
  };
  const exchangeOf = (params: JsonObject, offers: string[] = [], principal = 'desk') => {
    const ask = async ({ params: asked }: { params: { message: string } }) => {
      offers.push(asked.message);
      return { action: 'accept', content: { resume: true } };
    };
    const client = { principal, info: { name: 'gateway', version: '1' } };
    const { signal } = new AbortController();
    const call = { method: 'tools/call', params, client, maySuspend: true, canAsk: () => true, ask, signal };
    return call as unknown as Exchange;
  };
  const call = async (receipt: ReceiptRequest) => {
    const offers: string[] = [];
    const params = { name: 'order', arguments: {}, _meta: { [RECEIPT]: receipt } };
    const { _meta: meta } = (await callFlow(exchangeOf(params, offers), order, context)) as { _meta: JsonObject };
    return { sessionId: meta[RECEIPT] as string, isOffered: offers.length > 0 };
  };
  const acknowledge = (sessionId: string, principal = 'desk') =>
    context.receipts.acknowledge(exchangeOf({ sessionId }, [], principal), sessions);
  return { call, acknowledge };
}

it('a result is offered to the caller for whom the gateway holds it, until the gateway acknowledges it', async () => {
  const { call, acknowledge } = createDesk();
  const ada = { caller: 'ada' };
  const { sessionId } = await call(ada);
  expect(await call(ada)).toEqual({ sessionId, isOffered: true });
  await acknowledge(sessionId);
  expect((await call(ada)).isOffered).toBe(false);
});

it('a result is not offered to another caller of the gateway', async () => {
  const { call } = createDesk();
  await call({ caller: 'ada' });
  expect((await call({ caller: 'bob' })).isOffered).toBe(false);
});

it('a result for an unknown caller is offered to others only after the gateway has started again', async () => {
  const { call } = createDesk();
  const { sessionId } = await call({ caller: 'connection 1', holder: 'process 1' });
  expect(await call({ caller: 'connection 1', holder: 'process 1' })).toEqual({ sessionId, isOffered: true });
  expect(await call({ caller: 'connection 1', holder: 'process 2' })).toEqual({ sessionId, isOffered: true });
  const again = createDesk();
  await again.call({ caller: 'connection 1', holder: 'process 1' });
  expect((await again.call({ caller: 'connection 2', holder: 'process 1' })).isOffered).toBe(false);
});

it('only the principal of a session can acknowledge its result', async () => {
  const { call, acknowledge } = createDesk();
  const { sessionId } = await call({ caller: 'ada' });
  await expect(acknowledge(sessionId, 'another gateway')).rejects.toThrow('session');
  expect(await call({ caller: 'ada' })).toEqual({ sessionId, isOffered: true });
});

it.each([true, 'x', [], {}, { caller: 1 }, { caller: '' }, { caller: 'x'.repeat(201) }, { caller: 'x', holder: 1 }])(
  'a malformed request for a receipt is ignored: %j',
  (wanted) => {
    expect(readReceiptRequest({ _meta: { [RECEIPT]: wanted } })).toBeUndefined();
  },
);
