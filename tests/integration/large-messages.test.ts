// Large requests and results through a gateway, between real processes: in every pair of eras and over every transport they
// arrive as they were sent, and what is too large or broken costs its own call alone.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { createGateway, createLog } from 'mcp-parley';
import { rename } from 'mcp-parley/middleware';
import type { Address, Gateway, GatewayOptions } from 'mcp-parley';
import { REVISIONS } from '../helpers/bridge.ts';
import { connected, fixture, startHttp, textOf } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import { Home } from '../helpers/parley.ts';
import { within } from '../helpers/until.ts';

const MiB = 1024 * 1024;
const UPSTREAMS = ['stdio', 'http', 'events'] as const;
type Upstream = (typeof UPSTREAMS)[number];
/** Arguments that JavaScript would write in another way. */
const EXACT = '{"id":12345678901234567890,"in":[1.0,-0,1e3],"w":"1.0"}';
const log = createLog({ level: 'silent' });

const servers = new Map<Upstream, HttpFixture>();
beforeAll(async () => {
  servers.set('http', await startHttp(fixture('large-answers', ['--port', '0'])));
  servers.set('events', await startHttp(fixture('large-answers', ['--port', '0', '--events'])));
});
afterAll(async () => {
  for (const server of servers.values()) await server.stop();
});

interface Served extends AsyncDisposable {
  gateway: Gateway;
  url: string;
}

async function serve(upstream: Upstream, revision: string, options: Partial<GatewayOptions> = {}): Promise<Served> {
  const server = servers.get(upstream)?.url ?? fixture('large-answers');
  const gateway = createGateway({ servers: { large: { server, revision } }, log, startMs: 60_000, ...options });
  const { url } = await gateway.listen({ port: 0, host: '127.0.0.1' });
  return { gateway, url, [Symbol.asyncDispose]: () => within('the gateway to close', gateway.close()) };
}

/** A client that shows the bytes: a POST of its own, in the words of either era. */
async function asker(url: string, revision: string) {
  const isStateless = revision === '2026-07-28';
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
  };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'asker', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const post = async (message: object, extra: Record<string, string> = {}): Promise<Response> => {
    const body = JSON.stringify(message).replace('"EXACT"', EXACT);
    return within('an answer', fetch(url, { method: 'POST', headers: { ...headers, ...extra }, body }));
  };
  if (!isStateless) {
    const clientInfo = meta['io.modelcontextprotocol/clientInfo'];
    const params = { protocolVersion: revision, capabilities: {}, clientInfo };
    const opened = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    await opened.text();
    headers['mcp-session-id'] = opened.headers.get('mcp-session-id')!;
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }
  return async (method: string, params: Record<string, unknown>, token?: number): Promise<string> => {
    const _meta = { ...(isStateless && meta), ...(token !== undefined && { progressToken: token }) };
    const name = String(params.name ?? params.uri);
    const extra: Record<string, string> = isStateless ? { 'mcp-method': method, 'mcp-name': name } : {};
    const answer = await post({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, extra);
    return within('the whole answer', answer.text());
  };
}

const PAIRS = REVISIONS.flatMap((client) =>
  REVISIONS.flatMap((server) => UPSTREAMS.map((upstream) => ({ client, server, upstream }))),
);

describe.each(PAIRS)('client $client, server $server, $upstream', ({ client: revision, server, upstream }) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(upstream, server);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test('what nobody has to read arrives as it was written', async () => {
    const ask = await asker(served.url, revision);
    for (const [method, params] of [
      ['tools/call', { name: 'big' }],
      ['resources/read', { uri: 'a://b' }],
      ['prompts/get', { name: 'p' }],
    ] as const) {
      const answer = await ask(method, params);
      expect(answer.length, method).toBeGreaterThan(90_000);
      expect(answer).toContain('"exact": 12345678901234567890');
      expect(answer).toContain('"twice":{"a":1,"a":2}');
      const { result, id } = JSON.parse(answer) as { id: unknown; result: Record<string, unknown> };
      expect(id).toBe(1);
      const isStateless = revision === '2026-07-28';
      expect(result.resultType).toBe(isStateless ? 'complete' : undefined);
      expect(result.ttlMs).toBe(isStateless && method === 'resources/read' ? 0 : undefined);
      if (method === 'tools/call') expect(result._meta).toMatchObject({ mine: 1 });
    }
  });

  test('so does a small answer', async () => {
    const ask = await asker(served.url, revision);
    const answer = await ask('tools/call', { name: 'small' });
    expect(answer).toContain('"structuredContent":{"exact":12345678901234567890,"one":1.0}');
    const { result, id } = JSON.parse(answer) as { id: unknown; result: Record<string, unknown> };
    expect({ id, resultType: result.resultType }).toEqual({
      id: 1,
      resultType: revision === '2026-07-28' ? 'complete' : undefined,
    });
  });

  test('so do the numbers of arguments, whatever the tool is called', async () => {
    await using renamed = await serve(upstream, server, { steps: [rename({ tools: { said: 'say' } })] });
    for (const [url, name] of [
      [served.url, 'said'],
      [renamed.url, 'say'],
    ] as const) {
      const ask = await asker(url, revision);
      for (const token of [undefined, 7]) {
        const answer = await ask('tools/call', { name, arguments: 'EXACT' }, token);
        const data = answer.startsWith('{') ? answer : answer.split('data: ').at(-1)!;
        const { result } = JSON.parse(data) as { result: { content: { text: string }[] } };
        expect(result.content[0]!.text).toContain(`"name":"said","arguments":${EXACT}`);
      }
    }
  });

  test('a large answer comes after its progress, in a stream', async () => {
    const ask = await asker(served.url, revision);
    const answer = await ask('tools/call', { name: 'slowly' }, 7);
    const data = answer.split('\n').filter((line) => line.startsWith('data: {'));
    const [progress, result] = data.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
    expect(progress).toMatchObject({ method: 'notifications/progress', params: { progressToken: 7, progress: 1 } });
    expect(result).toMatchObject({ id: 1, result: { _meta: { mine: 1 } } });
    expect(data[1]).toContain('"exact": 12345678901234567890');
  });

  test('requests of 3 MB and results of 50 MB pass by default', async () => {
    await using client = await connected(served.url, { revision });
    expect(await textOf(client, 'length', { text: 'x'.repeat(3 * MiB) })).toBe(String(3 * MiB));
    const text = await textOf(client, 'big', { bytes: 50 * MiB });
    expect(Buffer.byteLength(text)).toBeGreaterThan(46 * MiB);
    expect(text.startsWith('ä line of text\n')).toBe(true);
    expect(await textOf(client, 'length', { text: 'still here' })).toBe('10');
  });
});

describe('limits', () => {
  test.each(UPSTREAMS)('a result over the limit fails its call alone, %s', async (upstream) => {
    await using served = await serve(upstream, '2025-11-25', { limits: { maxResultBytes: 2 * MiB } });
    const ask = await asker(served.url, '2025-11-25');
    const big = (bytes: number) => ask('tools/call', { name: 'big', arguments: { bytes } });
    expect(await big(3 * MiB)).toContain(`larger than ${2 * MiB} bytes`);
    expect((await big(MiB)).length).toBeGreaterThan(0.8 * MiB);
  });

  test('a large answer that is broken fails its call alone, and nothing of it reaches the client', async () => {
    await using served = await serve('http', '2026-07-28');
    const ask = await asker(served.url, '2026-07-28');
    const answer = await ask('tools/call', { name: 'torn' });
    expect(JSON.parse(answer)).toMatchObject({ id: 1, error: { code: expect.any(Number) } });
    expect(await ask('tools/call', { name: 'big' })).toContain('12345678901234567890');
  });
});

describe('whichever way a client comes', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve('stdio', '2025-11-25');
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test.each(['websocket', 'http+sse', 'memory'])('%s', async (transport) => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    if (transport === 'memory') await served.gateway.connect(far);
    const addresses: Record<string, Address> = {
      websocket: served.url.replace('http', 'ws').replace('/mcp', '/ws'),
      'http+sse': { url: served.url.replace('/mcp', '/sse'), transport: 'http+sse' },
      memory: near,
    };
    await using client = await connected(addresses[transport]!);
    const texts = await Promise.all([MiB, 2 * MiB, 1000].map((bytes) => textOf(client, 'big', { bytes })));
    expect(texts.map((text) => text.startsWith('ä line of text\n'))).toEqual([true, true, true]);
    expect(Buffer.byteLength(texts[1]!)).toBeGreaterThan(1.8 * MiB);
  });
});

test('a step that reads a large result gets all of it, and what it changes arrives', async () => {
  const { url } = servers.get('http')!;
  const gateway = createGateway({
    servers: { large: url },
    log,
    steps: [
      async (_exchange, next) => {
        const outcome = await next();
        outcome.result = { ...outcome.result, read: (outcome.result.content as unknown[])?.length };
        return outcome;
      },
    ],
  });
  const listening = await gateway.listen({ port: 0, host: '127.0.0.1' });
  const ask = await asker(listening.url, '2026-07-28');
  const answer = await ask('tools/call', { name: 'big' });
  expect(answer.length).toBeGreaterThan(90_000);
  expect(JSON.parse(answer)).toMatchObject({ result: { read: 1, exact: Number('12345678901234567890') } });
  await within('the gateway to close', gateway.close());
});

describe('parley wrap as a process', () => {
  const PAYLOAD = 10 * MiB;

  test.each(REVISIONS)('on stdio, for a client of %s', async (revision) => {
    using home = new Home();
    const { command, args = [] } = fixture('large-answers');
    await using client = await connected(home.address(['wrap', '--', command, ...args]), { revision });
    expect(await textOf(client, 'length', { text: 'x'.repeat(3 * MiB) })).toBe(String(3 * MiB));
    expect(Buffer.byteLength(await textOf(client, 'big', { bytes: 50 * MiB }))).toBeGreaterThan(46 * MiB);
    expect(await textOf(client, 'length', { text: 'still here' })).toBe('10');
  });

  // What it really takes is measured in bench/, on a machine that does nothing else.
  test('does not pile up copies of large results', async () => {
    using home = new Home();
    const { command, args = [] } = fixture('large-answers');
    await using parley = home.start(['wrap', '--port', '0', '--open', '--', command, ...args]);
    const ask = await asker(await parley.url(), '2026-07-28');
    await ask('tools/call', { name: 'big' });
    const before = memoryOf(parley.child.pid!, 'VmRSS');
    for (let calls = 0; calls < 5; calls++) await ask('tools/call', { name: 'big', arguments: { bytes: PAYLOAD } });
    expect(memoryOf(parley.child.pid!, 'VmHWM') - before).toBeLessThan(12 * PAYLOAD);
  });
});

/** In bytes. */
function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024;
}
