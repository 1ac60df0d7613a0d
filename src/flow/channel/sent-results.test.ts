// A result that has left its process before the client has read it.
import { expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { RESULT_READ_MS } from '../../kernel/base/limits.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createTokens } from '../token/tokens.ts';
import { TokenSessions } from '../token/token-sessions.ts';
import { callFlow } from './call-flow.ts';
import { CallReceipts, SentResults } from './call-receipts.ts';

const KEYS = ['the same everywhere'];
const OFFER = 'You started this before, and it has ended since. You may already have seen how.';

function createShop({ durable = true } = {}) {
  const clock = manualClock();
  const store = Object.assign(memoryStore({ clock }), { durable });
  let paid = 0;
  const order = flow({ name: 'order' }, async (ask) => ask.step('pay', () => ++paid, { effect: 'retry' }));
  const startProcess = () => {
    const sessions = new Sessions([order], { keys: KEYS, store, clock });
    const tokenSessions = new TokenSessions([order], { tokens: createTokens({ keys: KEYS }), shared: store });
    const context = {
      sessions,
      tokenSessions,
      waiting: new Map<string, Exchange>(),
      receipts: new CallReceipts(),
      sent: new SentResults(sessions.context),
    };
    const call = async (asked: string[] = []) => {
      const ask = async ({ params }: Ask) => {
        asked.push(String(params?.['message']));
        return { action: 'accept', content: { resume: true } };
      };
      const client = { principal: 'ada', info: { name: 'test', version: '1' } };
      const request = { method: 'tools/call', params: { name: 'order', arguments: {} }, client };
      const exchange = { ...request, canAsk: () => true, ask, notify() {}, signal: new AbortController().signal };
      const { content } = (await callFlow(exchange as unknown as Exchange, order, context)) as JsonObject;
      return { content, asked };
    };
    return { call, context };
  };
  return { clock, startProcess, paid: () => paid };
}

it('the next process offers a result that left the dead one long before the client would have read it', async () => {
  const { clock, startProcess, paid } = createShop();
  await startProcess().call();
  clock.move(RESULT_READ_MS - 1);
  const { asked, content } = await startProcess().call();
  expect({ asked, content, paid: paid() }).toMatchObject({ asked: [OFFER], content: [{ text: '1' }], paid: 1 });
});

it('a new call runs, without a question, in the process that has sent the result', async () => {
  const { startProcess, paid } = createShop();
  const { call } = startProcess();
  await call();
  expect(await call()).toMatchObject({ asked: [], content: [{ text: '2' }] });
  expect(paid()).toBe(2);
});

it.each([
  { durable: true, ms: RESULT_READ_MS },
  { durable: false, ms: 200 },
])('a result counts as read after a while: $durable, $ms ms', async ({ durable, ms }) => {
  const { clock, startProcess } = createShop({ durable });
  const { call, context } = startProcess();
  await call();
  const [sessionId] = [...context.waiting.keys()];
  const isKept = async () =>
    (await context.sessions.getState({ principal: 'ada', sessionId: sessionId! })).outcome !== undefined;
  expect(await isKept()).toBe(true);
  clock.move(ms);
  await until('it to be forgotten', async () => !(await isKept()));
  expect(context.waiting.size).toBe(0);
  expect((await startProcess().call()).asked).toEqual([]);
});

it('of very many results the oldest count as read at once', () => {
  const sent = new SentResults({ clock: manualClock(), store: { durable: true } });
  const read: number[] = [];
  for (let index = 0; index < 2003; index++) sent.add(`session ${index}`, () => read.push(index));
  expect(read).toEqual([0, 1, 2]);
});

it('a result that is sent again has its time again', () => {
  const clock = manualClock();
  const sent = new SentResults({ clock, store: { durable: true } });
  const read: string[] = [];
  sent.add('session', () => read.push('first'));
  clock.move(RESULT_READ_MS - 1);
  sent.add('session', () => read.push('second'));
  clock.move(RESULT_READ_MS - 1);
  expect(read).toEqual([]);
  clock.move(1);
  expect(read).toEqual(['second']);
});
