// A message that names no call may be private: on a shared connection it reaches a client only if no other client has used the
// connection.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from 'vitest';
import { until } from '../../../helpers/until.ts';
import { startAsking } from '../asking-gateway.ts';

async function listen(url: string, name: string) {
  const client = new Client({ name, version: '1' });
  const heard: string[] = [];
  client.fallbackNotificationHandler = async (one) => void heard.push(JSON.stringify(one));
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const call = async (tool: string, who: string) => {
    const { content } = await client.callTool({ name: tool, arguments: { who } }, undefined, { timeout: 120_000 });
    return (content as { text: string }[])[0].text;
  };
  const leave = async () => {
    await transport.terminateSession();
    await client.close();
  };
  return { heard, call, leave, [Symbol.asyncDispose]: () => client.close() };
}

test.each(['v1', 'v2'] as const)(
  'log messages and notifications of no call reach nobody where there are two clients (SDK %s)',
  async (sdk) => {
    await using asking = await startAsking('stdio', { sdk });
    const { director } = asking;
    await using alice = await listen(asking.url, 'alice');
    const bob = await listen(asking.url, 'bob');
    director.passes = (step) => !step.startsWith('log-later') || step.endsWith(' said');
    expect(await bob.call('report', 'bob')).toBe('the report of bob');
    expect(await alice.call('log-later', 'both')).toBe('later for both');
    await director.release('log-later both');
    await director.reached('log-later both said');
    expect(await alice.call('log', 'during')).toBe('logged for during');
    // The server answers this after all that, on the same pipe.
    expect(await bob.call('report', 'bob-2')).toBe('the report of bob-2');
    expect(await alice.call('report', 'alice')).toBe('the report of alice');
    await bob.leave();
    expect(bob.heard.join()).not.toMatch(/secret|news/);
    expect(alice.heard.join()).not.toMatch(/secret|news/);
  },
);

test.each(['v1', 'v2'] as const)(
  'log messages and notifications after the answer reach a client that is alone (SDK %s)',
  async (sdk) => {
    await using asking = await startAsking('stdio', { sdk });
    const { director } = asking;
    await using alice = await listen(asking.url, 'alice');
    director.passes = (step) => step !== 'log-later alone';
    expect(await alice.call('log-later', 'alone')).toBe('later for alone');
    await director.release('log-later alone');
    const both = () => alice.heard.join().includes('secret of alone') && alice.heard.join().includes('news of alone');
    await until('the message and the news', both);
  },
);

async function callStateless(url: string) {
  const client = new ClientV2({ name: 'bob', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new TransportV2(new URL(url)));
  await client.callTool({ name: 'log-later', arguments: { who: 'bob' } }, { timeout: 120_000 });
  await client.close();
}

async function callAndLeave(url: string) {
  const bob = await listen(url, 'bob');
  await bob.call('log-later', 'bob');
  await bob.leave();
}

test.each([
  ['a stateless client', callStateless],
  ['a client that has left', callAndLeave],
])('what a server says later for %s reaches nobody else', async (_who, callAsBob) => {
  await using asking = await startAsking('stdio');
  const { director } = asking;
  await using alice = await listen(asking.url, 'alice');
  director.passes = (step) => step !== 'log-later bob';
  await callAsBob(asking.url);
  await director.release('log-later bob');
  await director.reached('log-later bob said');
  // The server answers this after all that, on the same pipe.
  expect(await alice.call('report', 'alice')).toBe('the report of alice');
  expect(alice.heard.join()).not.toMatch(/secret|news/);
});
