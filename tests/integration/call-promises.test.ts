// How many promises the gateway makes for a small call with three steps. Each costs a tenth of a microsecond and garbage; a function
// that is `async` only to pass a promise on makes three. Counted, not timed: code that needs more raises the figure here.
import { createHook } from 'node:async_hooks';
import { Agent, request } from 'node:http';
import { filter, rename, timeout } from 'mcp-parley/middleware';
import { expect, test } from 'vitest';
import { bridge, PAIRS } from '../helpers/bridge.ts';
import { BOTH, send } from '../helpers/http-wire.ts';
import type { Sent } from '../helpers/http-wire.ts';
import { MODERN, modern, openSession, rpc } from '../helpers/mcp-http.ts';

const CALLS = 100;
/** By the transport of the server, whatever either side speaks; those of the client here are among them. */
const MOST = { stdio: 13, http: 16 };
/** What the runner of the tests makes meanwhile. */
const OTHERS = 50;

const STEPS = [rename({ tools: { echo: 'say' } }), filter({ deny: ['*delete*'] }), timeout(60_000)];

test.each(PAIRS)('client $client, server $server over $upstream', async (pair) => {
  await using between = await bridge(pair, {}, { steps: STEPS });
  const call = await toCall(between.url, pair.client);
  expect((await send(between.url, call)).json.result?.content?.[0]?.text).toBe('hello');
  let made = 0;
  const hook = createHook({ init: (_, type) => void (made += Number(type === 'PROMISE')) }).enable();
  await repeat(between.url, call);
  hook.disable();
  expect(made).toBeLessThanOrEqual(CALLS * MOST[pair.upstream] + OTHERS);
});

async function toCall(url: string, revision: string): Promise<Sent> {
  const params = { name: 'say', arguments: { text: 'hello' } };
  if (revision === MODERN) return modern('tools/call', params);
  const { headers } = await openSession(url);
  return { headers, body: rpc('tools/call', params) };
}

/** One call after the other on one connection, by a client that makes no promises. */
function repeat(url: string, { headers, body }: Sent): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const options = { method: 'POST', agent, headers: { accept: BOTH, 'content-type': 'application/json', ...headers } };
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const again = (left: number): void => {
      if (left === 0) return resolve(agent.destroy());
      const sent = request(url, options, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`HTTP ${answer.statusCode}`));
        answer.resume().on('end', () => again(left - 1));
      });
      sent.on('error', reject).end(text);
    };
    again(CALLS);
  });
}
