// A process that was silent for too long: another one has continued the session of its call, and the call waits for the outcome.
import { expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createTokens } from '../token/tokens.ts';
import { TokenSessions } from '../token/token-sessions.ts';
import { callFlow } from './call-flow.ts';
import { CallReceipts, SentResults } from './call-receipts.ts';

const LEASE_MS = 60;
const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** One process at work in a step that another one has taken over: `finish` ends the step in the first and in the second. */
async function overtaken({ asksMore, asksFirst = true }: { asksMore: boolean; asksFirst?: boolean }) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const lease = store.lease.bind(store);
  let silent: string | undefined;
  store.lease = async (id, owner, ms) => {
    if (silent !== undefined && owner.startsWith(silent)) throw new Error('away');
    leaseOwner ??= owner.split('.')[0];
    return lease(id, owner, ms);
  };
  let leaseOwner: string | undefined;
  const gates = [gate(), gate()];
  let runs = 0;
  const pay = flow({ name: 'pay', description: 'Pays' }, async (ask) => {
    const who = asksFirst ? await ask.text('who', { message: 'Who?' }) : 'nobody';
    await ask.step('pay', () => gates[runs++]!.opened, { effect: 'retry' });
    return { who, ...(asksMore && { more: await ask.text('more', { message: 'More?' }) }) };
  });
  const [first, second] = [1, 2].map(() => new Sessions([pay], { store, log: quiet, clock, leaseMs: LEASE_MS }));
  const tokenSessions = new TokenSessions([pay], { tokens: createTokens({ keys: ['a key of this test'] }) });
  const asked: string[] = [];
  const ask = async ({ params }: Ask) => {
    const names = Object.keys((params as { requestedSchema: { properties: object } }).requestedSchema.properties);
    asked.push(...names);
    return { action: 'accept', content: Object.fromEntries(names.map((name) => [name, `my ${name}`])) };
  };
  const { signal } = new AbortController();
  const client = { principal: 'me', info: { name: 'test', version: '1' } };
  const call = { method: 'tools/call', params: { name: 'pay', arguments: {} }, client, isConnected: true };
  const exchange = { ...call, canAsk: () => true, ask, notify() {}, signal } as unknown as Exchange;
  const result = callFlow(exchange, pay, {
    sessions: first!,
    tokenSessions,
    waiting: new Map(),
    receipts: new CallReceipts(),
    sent: new SentResults(first!.context),
  });
  await until('the step', () => runs === 1);
  silent = leaseOwner;
  clock.move(2 * LEASE_MS);
  await second!.sweep();
  await until('the step in the other process', () => runs === 2);
  const close = () => Promise.all([first!.close(), second!.close()]);
  return { clock, result, asked, finish: gates.map(({ open }) => open), close };
}

const FIRST_TO_END = ['the overtaken one', 'the other'] as const;
const cases = FIRST_TO_END.flatMap((first) => [
  { first, asksFirst: true, asksMore: true },
  { first, asksFirst: true, asksMore: false },
  { first, asksFirst: false, asksMore: false },
]);
it.each(cases)(
  'a call has its result, whichever process ends first: $first; it asks something before: $asksFirst, and after: $asksMore',
  async (one) => {
    const { clock, result, asked, finish, close } = await overtaken(one);
    let isOver = false;
    void result.finally(() => (isOver = true));
    const [first, last] = one.first === 'the other' ? finish.toReversed() : finish;
    first!();
    await new Promise((resolve) => setImmediate(resolve));
    last!();
    await until('the result', () => {
      clock.move(LEASE_MS);
      return isOver;
    });
    const more = one.asksMore ? { more: 'my more' } : {};
    expect(await result).toMatchObject({ structuredContent: { who: one.asksFirst ? 'my who' : 'nobody', ...more } });
    expect(asked).toEqual([...(one.asksFirst ? ['who'] : []), ...Object.keys(more)]);
    await close();
  },
);

it('a call continues if another process continued the session before its answer arrived', async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const { open: finish, opened } = gate();
  let runs = 0;
  const page = flow({ name: 'page', description: 'Pages somebody' }, async (ask) => {
    const by = await ask.text('by', { message: 'How?', timeout: '1s', onTimeout: 'default', default: 'phone' });
    await ask.step('page', () => (runs++, opened), { effect: 'retry' });
    return { by };
  });
  const [first, second] = [1, 2].map(
    () => new Sessions([page], { store, log: quiet, clock, leaseMs: LEASE_MS, sweep: false }),
  );
  const ask = async () => {
    clock.move(2000);
    await second!.sweep();
    await until('the step in the other process', () => runs === 1);
    return { action: 'accept', content: { by: 'chat' } };
  };
  const { signal } = new AbortController();
  const client = { principal: 'me', info: { name: 'test', version: '1' } };
  const call = { method: 'tools/call', params: { name: 'page', arguments: {} }, client, isConnected: true };
  const exchange = { ...call, canAsk: () => true, ask, notify() {}, signal } as unknown as Exchange;
  const tokenSessions = new TokenSessions([page], { tokens: createTokens({ keys: ['a key of this test'] }) });
  let isOver = false;
  const result = callFlow(exchange, page, {
    sessions: first!,
    tokenSessions,
    waiting: new Map(),
    receipts: new CallReceipts(),
    sent: new SentResults(first!.context),
  });
  void result.finally(() => (isOver = true));
  await until('the step', () => runs === 1);
  finish();
  await until('the result', () => {
    clock.move(LEASE_MS);
    return isOver;
  });
  expect(await result).toMatchObject({ structuredContent: { by: 'phone' } });
  await Promise.all([first!.close(), second!.close()]);
});
