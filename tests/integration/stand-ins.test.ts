// What the gateway answers in the place of clients that cannot: roots from the configuration, samples of a configured model.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { GatewayOptions } from 'mcp-parley';
import { bridge, PAIRS, REVISIONS } from '../helpers/bridge.ts';
import type { Pair } from '../helpers/bridge.ts';
import { completion, sendJson, startChatEndpoint } from '../helpers/chat-endpoint.ts';
import type { ChatEndpoint } from '../helpers/chat-endpoint.ts';
import { connected, fixture, textOf } from '../helpers/fixture-server.ts';
import { until } from '../helpers/until.ts';

const roots = [{ uri: 'file:///srv/a', name: 'A' }, { uri: 'file:///srv/b' }];
let endpoint: ChatEndpoint | undefined;

afterEach(() => endpoint?.[Symbol.asyncDispose]());

/** A model that calls the first tool it is given. */
async function withModel(channels: ('page' | 'relay')[]): Promise<Partial<GatewayOptions>> {
  endpoint = await startChatEndpoint(({ body }, response) => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } };
    sendJson(response, completion(body.tools ? { content: null, tool_calls: [call] } : { content: 'Something' }));
  });
  return { roots, ask: { channels, model: { url: endpoint.url, key: 'k-1', model: 'small' } } };
}

describe.each(PAIRS)('a client of $client that has neither, a server of $server on $upstream', (pair) => {
  test('is answered for', async () => {
    await using between = await bridge(pair, {}, await withModel(pair.upstream === 'http' ? [] : ['relay']));
    const client = await between.connect();
    expect(await textOf(client, 'roots')).toBe('file:///srv/a file:///srv/b');
    expect(await textOf(client, 'sample')).toBe('small-2: Something');
    expect(JSON.parse((await textOf(client, 'sample', { tools: true })).slice('small-2: '.length))).toEqual({
      type: 'tool_use',
      id: 'c1',
      name: 'look',
      input: { at: 'x' },
    });
    expect(endpoint!.posted.map(({ headers }) => headers.authorization)).toEqual(['Bearer k-1', 'Bearer k-1']);
  });

  test('is asked itself, and by nobody else, for what it has', async () => {
    await using between = await bridge(pair, {}, await withModel([]));
    const answer = { role: 'assistant' as const, content: { type: 'text' as const, text: 'Mine' }, model: 'own' };
    const client = await between.connect({ onSample: () => answer, roots: [{ uri: 'file:///own' }] });
    expect([await textOf(client, 'sample'), await textOf(client, 'roots')]).toEqual(['own: Mine', 'file:///own']);
    // It has sampling without tools: those are not to be had elsewhere.
    await textOf(client, 'sample', { tools: true }).catch(() => {});
    expect(endpoint!.posted).toEqual([]);
  });
});

test('a failing model is reported without its key, and the server gets an answer', async () => {
  const pair: Pair = { client: '2025-11-25', server: '2025-11-25', upstream: 'stdio' };
  const options = await withModel([]);
  endpoint!.reply = (_, response) => sendJson(response, { error: { message: 'Bad key k-1' } }, 401);
  await using between = await bridge(pair, {}, options);
  const client = await between.connect();
  const result = JSON.stringify(await client.callTool('sample').catch((error: Error) => error.message));
  expect(result).toContain('HTTP 401');
  expect(result).not.toContain('k-1');
});

describe('a server that asks for roots as soon as it is connected', () => {
  const early = () =>
    createGateway({ servers: { early: fixture('asks-early') }, roots, log: createLog({ level: 'silent' }) });

  test.each(REVISIONS)(
    'is told the configured ones for clients of %s, on one connection, and of others later',
    async (revision) => {
      const gateway = early();
      const { url } = await gateway.listen({ port: 0 });
      await using one = await connected(url, { revision });
      await using other = await connected(url, { revision });
      await until('the roots', async () => (await textOf(one, 'roots')) === 'file:///srv/a file:///srv/b');
      expect(await textOf(one, 'pid')).toBe(await textOf(other, 'pid'));
      gateway.update({ roots: [{ uri: 'file:///srv/c' }] });
      await until('the new roots', async () => (await textOf(other, 'roots')) === 'file:///srv/c');
      await gateway.close();
    },
  );

  test('is told those of the client on a connection of its own', async () => {
    const gateway = early();
    const { url } = await gateway.listen({ port: 0 });
    await using without = await connected(url, { revision: '2025-11-25' });
    await using owner = await connected(url, { revision: '2025-11-25', roots: [{ uri: 'file:///own' }] });
    await until('its own roots', async () => (await textOf(owner, 'roots')) === 'file:///own');
    await until('the configured ones', async () => (await textOf(without, 'roots')) === 'file:///srv/a file:///srv/b');
    gateway.update({ roots: [{ uri: 'file:///srv/c' }] });
    await until('the new roots', async () => (await textOf(without, 'roots')) === 'file:///srv/c');
    expect(await textOf(owner, 'roots')).toBe('file:///own');
    await gateway.close();
  });

  test('sees none where none are configured', async () => {
    const gateway = createGateway({ servers: { early: fixture('asks-early') }, log: createLog({ level: 'silent' }) });
    const { url } = await gateway.listen({ port: 0 });
    await using client = await connected(url, { revision: '2025-11-25' });
    expect(await textOf(client, 'roots')).toBe('not told');
    await gateway.close();
  });
});

test('roots that are not folders are refused', () => {
  expect(() => createGateway({ servers: {}, roots: [{ uri: 'https://example.com' }] })).toThrow('is not a file:// URI');
});
