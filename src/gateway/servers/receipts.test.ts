import { expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import { RECEIPT } from '../../kernel/interaction.ts';
import { RESULT_READ_MS } from '../../kernel/base/limits.ts';
import { FakeClock } from '../../kernel/fake-exchange.contract.ts';
import { Receipts } from './receipts.ts';

/** A gateway before a server that gives a receipt for each result. */
function createDesk() {
  const clock = new FakeClock();
  const receipts = new Receipts(clock);
  const happened: string[] = [];
  let calls = 0;
  const call = (principal: string) =>
    receipts.call({ params: {}, client: { principal }, signal: new AbortController().signal } as unknown as Exchange, {
      send: async () => {
        happened.push(`call ${++calls}`);
        return { content: [], _meta: { [RECEIPT]: `session ${calls}` } };
      },
      acknowledge: async (sessionId) => void happened.push(`read ${sessionId}`),
    });
  return { clock, call, happened };
}

it('a result is acknowledged once its client has had time to read it', async () => {
  const { clock, call, happened } = createDesk();
  expect(await call('ada')).toEqual({ content: [] });
  await clock.advance(RESULT_READ_MS - 1);
  expect(happened).toEqual(['call 1']);
  await clock.advance(1);
  expect(happened).toEqual(['call 1', 'read session 1']);
});

it('a result is acknowledged before the next call of the same user, and not before that of another one', async () => {
  const { clock, call, happened } = createDesk();
  await call('ada');
  await call('bob');
  await call('ada');
  expect(happened).toEqual(['call 1', 'call 2', 'read session 1', 'call 3']);
  await clock.advance(RESULT_READ_MS);
  expect(happened.slice(4)).toEqual(['read session 2', 'read session 3']);
});
