// A call whose questions are for our page is kept while it waits, and no longer.
import { expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createTokens } from '../token/tokens.ts';
import { TravellingSessions } from '../token/travelling.ts';
import { travel } from './travelling-call.ts';

it('expires by itself when nobody ever answers', async () => {
  const clock = manualClock();
  const login = flow({ name: 'login' }, (ask) => ask.text('password', { secret: true }));
  const sessions = new Sessions([login], { clock });
  const tokens = createTokens({ keys: ['key'], clock });
  const travelling = new TravellingSessions([login], { tokens, clock, shared: sessions.setup.store });
  const exchange = { method: 'tools/call', maySuspend: true, canAsk: () => true } as unknown as Exchange;
  await travel(exchange, { principal: 'me', tool: 'login', args: {} }, { sessions, travelling });
  expect(await sessions.list('me')).toHaveLength(1);
  await until('it to expire', async () => {
    clock.move(60_000);
    return (await sessions.list('me')).length === 0;
  });
  await sessions.close();
});
