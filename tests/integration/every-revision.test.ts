// Every revision and dialect in front of every other, through a gateway, whichever way the server is reached.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, createGateway, createLog, createServer } from 'mcp-parley';
import type { Gateway, ServerEntry } from 'mcp-parley';
import { textOf } from '../helpers/fixture-server.ts';
import { until, within } from '../helpers/until.ts';

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', 'draft'];
const TRANSPORTS = ['streamable-http', 'http+sse', 'websocket', 'in-process'];
/** HTTP+SSE belongs to the handshake era. */
const CASES = TRANSPORTS.flatMap((transport) => REVISIONS.map((server) => ({ transport, server }))).filter(
  ({ transport, server }) => transport !== 'http+sse' || server !== '2026-07-28',
);
const log = createLog({ level: 'silent' });

describe.each(CASES)('a server of $server over $transport', ({ transport, server: revision }) => {
  let cancelled = 0;
  let server: ReturnType<typeof createServer>;
  let gateway: Gateway;
  let url: string;

  beforeAll(async () => {
    server = createServer({ name: 'any', version: '1', pageSize: 2, log });
    const input = { type: 'object', properties: { text: { type: 'string' } } } as const;
    server.tool('echo', { input }, ({ text }) => String(text));
    server.tool('work', {}, (_args, call) => {
      call.progress(1, 2);
      call.progress(2, 2);
      return 'done';
    });
    server.tool('hang', {}, async (_args, call) => {
      call.progress(1);
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
      cancelled += 1;
      return 'never read';
    });
    const { url: at } = await server.listen({ port: 0 });
    const entries: Record<string, ServerEntry> = {
      'streamable-http': { server: at, revision },
      'http+sse': { server: { url: new URL('/sse', at).href, transport: 'http+sse' }, revision },
      websocket: { server: new URL('/ws', at).href.replace('http', 'ws'), revision },
      'in-process': server,
    };
    gateway = createGateway({ servers: { any: entries[transport]! }, ask: { channels: [] }, log });
    ({ url } = await gateway.listen({ port: 0 }));
  });
  afterAll(async () => {
    await gateway.close();
    await server.close();
  });

  test.each(REVISIONS)('works for a client of %s', async (client) => {
    await using connected = await within('connect', connect(url, { log, revision: client }));
    expect((await connected.listTools()).map(({ name }) => name)).toEqual(['echo', 'work', 'hang']);
    expect(await textOf(connected, 'echo', { text: 'Zürich 東京 🌦' })).toBe('Zürich 東京 🌦');
    const heard: unknown[] = [];
    await connected.callTool('work', {}, { onProgress: ({ progress }) => heard.push(progress) });
    expect(heard).toHaveLength(2);
    const before = cancelled;
    const controller = new AbortController();
    const started = new Promise<void>((resolve) => {
      const options = { signal: controller.signal, onProgress: () => resolve() };
      connected.callTool('hang', {}, options).catch(() => {});
    });
    await within('the call to start', started);
    controller.abort();
    await until('the server to notice', () => cancelled === before + 1);
  });
});
