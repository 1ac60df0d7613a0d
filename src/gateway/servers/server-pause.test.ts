import { expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { FakeClock, FakeExchange } from '../../kernel/fake-exchange.contract.ts';
import { ServerPause } from './server-pause.ts';

const call: Exchange = new FakeExchange('tools/call', { name: 'a' });
const busy = new GatewayError('UPSTREAM_BUSY', { server: 's', reason: 'HTTP 503', retryAfterMs: 1000 });

it('ends for a caller that has waited for all of it, although timers may ring up to a millisecond early', async () => {
  const clock = new FakeClock();
  const pause = new ServerPause('s', clock);
  pause.note(busy, call);
  await clock.advance(998);
  expect(() => pause.check(call)).toThrow('it has asked not to be called for a while');
  await clock.advance(1.2);
  expect(() => pause.check(call)).not.toThrow();
});
