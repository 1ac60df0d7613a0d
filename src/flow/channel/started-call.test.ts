// Calls with a start id, in processes that share a store.
import { expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import { START_ID } from '../../kernel/interaction.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { readSuspended } from '../../kernel/target.ts';
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
const ID = 'an id of the client';
type Given = Partial<Pick<Exchange, 'ask' | 'signal' | 'maySuspend' | 'resumed'>> & { startId?: string };

function createShop({ resultBytes = 100_000, asks = true } = {}) {
  const clock = manualClock();
  const store = Object.assign(memoryStore({ clock }), { durable: true });
  let paid = 0;
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const order = flow({ name: 'order' }, async (ask) => {
    const what = asks ? await ask.text('what', { message: 'What?' }) : 'a lamp';
    const pay = async () => {
      paid++;
      await opened;
    };
    await ask.step('pay', pay, { effect: 'retry' });
    return { what, size: await ask.text('size', { message: 'Which size?', required: asks }) };
  });
  const startProcess = () => {
    const sessions = new Sessions([order], { keys: KEYS, store, clock, limits: { resultBytes } });
    const tokenSessions = new TokenSessions([order], { tokens: createTokens({ keys: KEYS }), shared: store, clock });
    const context = {
      sessions,
      tokenSessions,
      waiting: new Map<string, Exchange>(),
      receipts: new CallReceipts(),
      sent: new SentResults(sessions.context),
    };
    const call = async ({ startId = ID, signal = new AbortController().signal, ...given }: Given = {}) => {
      const params = { name: 'order', arguments: {}, _meta: { [START_ID]: startId } };
      const client = { principal: 'ada', info: { name: 'test', version: '1' } };
      const request = { method: 'tools/call', params, client, signal, canAsk: () => asks, notify() {}, ask: fill };
      return (await callFlow({ ...request, ...given } as unknown as Exchange, order, context)) as JsonObject;
    };
    return { call, context };
  };
  return { clock, startProcess, paid: () => paid, open };
}

const fill = async ({ key }: Ask): Promise<JsonObject> => ({ action: 'accept', content: { [key!]: `my ${key}` } });
const END = { structuredContent: { what: 'my what', size: 'my size' } };

it('the result stays, however long ago it was sent, until its tombstone is gone', async () => {
  const { clock, startProcess, paid, open } = createShop();
  open();
  const { call } = startProcess();
  expect(await call()).toMatchObject(END);
  clock.move(2 * RESULT_READ_MS);
  expect([await call(), await startProcess().call()]).toMatchObject([END, END]);
  expect(paid()).toBe(1);
});

it('a result that is too large to be kept is not made again', async () => {
  const { startProcess, paid, open } = createShop({ resultBytes: 10 });
  open();
  const { call } = startProcess();
  expect(await call()).toMatchObject(END);
  expect(await call()).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('not kept') as string }],
  });
  expect(paid()).toBe(1);
});

it('a call joins a session that works before its first question, in another process, and waits without reading all the time', async () => {
  const { clock, startProcess, paid, open } = createShop({ asks: false });
  const [first, second] = [startProcess(), startProcess()];
  const one = first.call();
  await until('the work', () => paid() === 1);
  let reads = 0;
  const { store } = second.context.sessions.context;
  const load = store.load.bind(store);
  store.load = (id) => {
    reads++;
    return load(id);
  };
  const other = second.call();
  await until('the second call to look', () => reads > 0);
  for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toBeLessThan(10);
  open();
  const end = { structuredContent: { what: 'a lamp' } };
  expect(await one).toMatchObject(end);
  let isOver = false;
  void other.finally(() => (isOver = true));
  await until('the second call to look again', () => {
    clock.move(1000);
    return isOver;
  });
  expect(await other).toMatchObject(end);
  expect(paid()).toBe(1);
});

it('a call that is cancelled ends the session only if no other call waits for it', async () => {
  const { startProcess, open } = createShop();
  const { call, context } = startProcess();
  const [first, second] = [new AbortController(), new AbortController()];
  let asked = 0;
  const never = (_: Ask, signal?: AbortSignal) => {
    asked++;
    return new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('gone'))));
  };
  const given = (ask: typeof never, signal: AbortSignal) => call({ ask, signal }).catch((thrown: unknown) => thrown);
  const calls = [given(never, first.signal)];
  await until('the first to be asked', () => asked === 1);
  calls.push(given(never, second.signal));
  await until('the second to be asked', () => asked === 2);
  first.abort();
  const states = async () => (await context.sessions.list('ada')).map(({ state }) => state);
  expect(await states()).toEqual(['waiting_user']);
  second.abort();
  await until('the session to end', async () => (await states()).length === 0);
  open();
  expect(await call()).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('cancelled') as string }],
  });
  expect(await Promise.all(calls)).toMatchObject([{ code: 'CANCELLED' }, { code: 'CANCELLED' }]);
});

it('the state of a call that ends with its questions takes each answer once, in any process', async () => {
  const { startProcess, paid, open } = createShop();
  open();
  const suspended = readSuspended(await startProcess().call({ maySuspend: true }))!;
  const again = readSuspended(await startProcess().call({ maySuspend: true }))!;
  expect(again).toEqual(suspended);
  const reply = {
    state: suspended.state,
    server: undefined,
    answers: { what: { action: 'accept', content: { what: 'a chair' } } },
  };
  const next = readSuspended(await startProcess().call({ maySuspend: true, resumed: reply }))!;
  expect(Object.keys(next.questions)).toEqual(['size']);
  // The answer to it was lost, so it is sent again.
  expect(readSuspended(await startProcess().call({ maySuspend: true, resumed: reply }))).toEqual(next);
  const last = {
    state: next.state,
    server: undefined,
    answers: { size: { action: 'accept', content: { size: 'L' } } },
  };
  const end = { structuredContent: { what: 'a chair', size: 'L' } };
  expect(await startProcess().call({ maySuspend: true, resumed: last })).toMatchObject(end);
  expect(await startProcess().call({ maySuspend: true, resumed: last })).toMatchObject(end);
  expect(paid()).toBe(1);
});
