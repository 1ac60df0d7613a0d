// What no call may make on its way: an AbortController costs more than all else that is done for a small call, and dies slowly. One
// look at `exchange.signal` where `exchange.cancellation` would do brings one back for every call.
import { timeout } from 'mcp-parley/middleware';
import { afterEach, expect, test, vi } from 'vitest';
import { bridge, PAIRS } from '../helpers/bridge.ts';
import { textOf } from '../helpers/fixture-server.ts';

const CALLS = 20;

afterEach(() => vi.unstubAllGlobals());

test.each(PAIRS)('client $client, server $server over $upstream: no AbortController per call', async (pair) => {
  await using between = await bridge(pair, {}, { steps: [timeout(60_000)] });
  const client = await between.connect();
  expect(await textOf(client, 'echo', { text: 'first' })).toBe('first');
  let made = 0;
  class Counted extends AbortController {
    constructor() {
      super();
      made++;
    }
  }
  vi.stubGlobal('AbortController', Counted);
  for (let call = 0; call < CALLS; call++) await textOf(client, 'echo', { text: 'again' });
  expect(made).toBeLessThan(CALLS / 2); // a stream that is opened again meanwhile may make one
});
