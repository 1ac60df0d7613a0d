// A client that hangs up in the middle of a call, through a gateway: in the stateless era that calls the call off at the server,
// in the handshake era it does not, whatever the server speaks.
import { expect, test } from 'vitest';
import { bridge, PAIRS } from '../helpers/bridge.ts';
import { openStream } from '../helpers/http-wire.ts';
import type { Stream } from '../helpers/http-wire.ts';
import { ask, modern, openSession } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

async function hangUp(stream: Stream): Promise<void> {
  await stream.until('progress', ({ messages }) => messages.length > 0);
  stream.close();
}

test.each(PAIRS)('client $client, server $server over $upstream', async (pair) => {
  // A server that may ask would be replaced after the cancel, and its count with it.
  await using between = await bridge(pair, {}, { ask: { channels: [] } });
  const { url } = between;
  const cancelled = () => ask(url, 'cancelled');
  expect(await cancelled()).toBe('0');
  if (pair.client === '2026-07-28') {
    const request = modern('tools/call', { name: 'hang', arguments: {} }, { progressToken: 'p' });
    const headers = { ...request.headers, accept: 'application/json, text/event-stream' };
    await hangUp(await openStream(url, { method: 'POST', ...request, headers }));
  } else {
    const session = await openSession(url);
    await hangUp(await session.callStream('hang', {}));
    expect((await session.call('echo', { text: 'x' })).status).toBe(200);
    expect(await cancelled()).toBe('0');
    await session.delete(); // it was under way until now
  }
  await until('the server to be told', async () => (await cancelled()) === '1');
});
