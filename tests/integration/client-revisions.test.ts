// Our client finds out what our server speaks, for every revision it can be limited to, over every transport; and a pinned
// client refuses what it was not pinned to.
import { describe, expect, test } from 'vitest';
import { createServer } from 'mcp-parley';
import { InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Address } from 'mcp-parley';
import { connected, fixture, refusal, textOf } from '../helpers/fixture-server.ts';

const HANDSHAKE = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const REVISIONS = [...HANDSHAKE, '2026-07-28', 'draft'];

async function serve(revisions: string[]) {
  const server = createServer({ name: 'any', version: '1', revisions });
  server.tool('echo', {}, ({ text }) => String(text));
  const { url, port } = await server.listen({ port: 0 });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const addresses: Record<string, Address> = {
    'streamable-http': url,
    'http+sse': { url: `http://127.0.0.1:${port}/sse`, transport: 'http+sse' },
    websocket: `ws://127.0.0.1:${port}/ws`,
    memory: near,
  };
  return { url, addresses, [Symbol.asyncDispose]: () => server.close() };
}

describe.each(REVISIONS)('a server of %s', (revision) => {
  const expected = revision === 'draft' ? { dialect: 'draft' } : { revision };

  test.each(['streamable-http', 'http+sse', 'websocket', 'memory'])('is understood over %s', async (transport) => {
    await using server = await serve([revision]);
    // The oldest HTTP transport belongs to the handshake era; the newest one is never spoken there.
    if (transport === 'http+sse' && revision === '2026-07-28') return;
    await using client = await connected(server.addresses[transport]!);
    expect(client).toMatchObject({ transport, server: expected });
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo']);
  });

  test('is understood over stdio', async () => {
    await using client = await connected(fixture('any-revision', [revision, '--stdio']), {
      probeMs: 30_000,
    });
    expect(client).toMatchObject({ transport: 'stdio', server: expected });
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('is understood by a client that is pinned to it', async () => {
    await using server = await serve([revision]);
    await using client = await connected(server.url, { revision });
    expect(client.server).toMatchObject(expected);
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  });
});

describe('a pinned client', () => {
  test.each(HANDSHAKE)('speaks %s to a server that knows all', async (revision) => {
    await using server = await serve(REVISIONS);
    await using client = await connected(server.url, { revision });
    expect(client.server.revision).toBe(revision);
  });

  test.each([
    ['2025-11-25', '2025-06-18'],
    ['2025-06-18', '2026-07-28'],
    ['2026-07-28', '2025-11-25'],
    ['draft', '2025-11-25'],
  ])('of %s does not speak to a server of %s', async (pinned, spoken) => {
    await using server = await serve([spoken]);
    const { code } = await refusal(server.url, { revision: pinned });
    expect(['NO_COMMON_VERSION', 'UPSTREAM_UNREACHABLE', -32601, -32602, -32022]).toContain(code);
  });
});

test('a client that is free takes the newest that both know', async () => {
  await using server = await serve(REVISIONS);
  await using newest = await connected(server.url);
  expect(newest.server.revision).toBe('2026-07-28');
  await using older = await serve(HANDSHAKE);
  await using client = await connected(older.url);
  expect(client.server.revision).toBe('2025-11-25');
});

test.each(['2025-11-25', '2026-07-28'])('an HTTP transport of the official SDK carries %s', async (revision) => {
  await using server = await serve([revision]);
  await using client = await connected(new StreamableHTTPClientTransport(new URL(server.url)));
  expect(client.server.revision).toBe(revision);
  expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  await expect(client.request('no/such')).rejects.toMatchObject({ code: -32601 });
});
