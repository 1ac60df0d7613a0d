// The endpoint as (Request) => Promise<Response>: official clients call the function directly, and through servers of other
// projects.
import type { AddressInfo } from 'node:net';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Request as UndiciRequest, fetch as undiciFetch } from 'undici';
import type { Response as UndiciResponse } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from '../../../src/_entries/index.ts';
import type { HttpEndpoint } from '../../../src/_entries/index.ts';
import { until } from '../../helpers/until.ts';

const BASE = 'http://127.0.0.1/mcp';
const log = createLog({ level: 'silent' });
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** A gateway before a server that reports progress, asks, and waits to be called off. */
function embedded(path?: string) {
  const seen = { cancelled: 0 };
  const server = createServer({ name: 'inner', version: '1', log });
  server.tool('add', { a: 'number', b: 'number' }, ({ a, b }) => String(Number(a) + Number(b)));
  server.tool('steps', {}, (_args, call) => {
    for (let step = 1; step <= 3; step++) call.progress(step, 3);
    return 'done';
  });
  server.tool('ask', {}, async (_args, call) => {
    const schema = { type: 'object' as const, properties: { answer: { type: 'string' as const } } };
    const { content } = await call.ask.elicit({ message: 'Your name?', schema });
    return `Hello ${String(content?.['answer'])}`;
  });
  server.tool('wait', {}, async (_args, call) => {
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve, { once: true }));
    seen.cancelled++;
    return 'never';
  });
  const gateway = createGateway({ servers: { inner: server }, log });
  open.push(() => gateway.close());
  const endpoint = gateway.endpoint(path === undefined ? {} : { path });
  return { seen, endpoint };
}

/** For clients: no network at all, only the function. */
function direct({ fetch }: HttpEndpoint): typeof globalThis.fetch {
  return (url, init) => fetch(new Request(url, init));
}

async function v1(fetch: typeof globalThis.fetch, url = BASE): Promise<ClientV1> {
  const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { answer: 'Ada' } }));
  await client.connect(new HttpV1(new URL(url), { fetch }));
  open.push(() => client.close());
  return client;
}

async function v2(fetch: typeof globalThis.fetch, url = BASE): Promise<ClientV2> {
  const client = new ClientV2(
    { name: 'v2', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { answer: 'Ada' } }));
  await client.connect(new HttpV2(new URL(url), { fetch }));
  open.push(() => client.close());
  return client;
}

function textOf({ content }: { content: { text: string }[] }): string {
  return content[0].text;
}

describe.each([
  ['SDK v1', v1],
  ['SDK v2', v2],
] as const)('a client of %s over the function alone', (_name, connect) => {
  test('calls, hears of progress, is asked, and leaves', async () => {
    const { endpoint } = embedded();
    const client = await connect(direct(endpoint));
    expect(textOf(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } }))).toBe('5');
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
    const call = { name: 'steps', arguments: {} };
    if (client instanceof ClientV1) await client.callTool(call, undefined, { onprogress });
    else await client.callTool(call, { onprogress });
    expect(heard).toEqual([1, 2, 3]);
    expect(textOf(await client.callTool({ name: 'ask', arguments: {} }))).toBe('Hello Ada');
  });

  test('cancelling a silent call reaches the server', async () => {
    const { endpoint, seen } = embedded();
    const client = await connect(direct(endpoint));
    const stop = new AbortController();
    const call = { name: 'wait', arguments: {} };
    const options = { signal: stop.signal };
    const waiting =
      client instanceof ClientV1 ? client.callTool(call, undefined, options) : client.callTool(call, options);
    setImmediate(() => stop.abort());
    await expect(waiting).rejects.toThrow();
    await until('the call to be called off', () => seen.cancelled === 1);
  });
});

test('SDK v1 ends its session with DELETE', async () => {
  const { endpoint } = embedded();
  const client = await v1(direct(endpoint));
  const transport = client.transport as HttpV1;
  const headers = { 'mcp-session-id': transport.sessionId!, accept: 'text/event-stream' };
  await transport.terminateSession();
  expect((await endpoint.fetch(new Request(BASE, { headers }))).status).toBe(404);
});

test('requests of undici itself are served, and its types fit', async () => {
  const { endpoint } = embedded();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const request: Request = new UndiciRequest(BASE, { method: 'POST', headers, body }) as unknown as Request;
  const response: UndiciResponse = (await endpoint.fetch(request)) as unknown as UndiciResponse;
  expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});

describe('what HTTP itself asks for', () => {
  const post = (endpoint: HttpEndpoint, init: RequestInit) =>
    endpoint.fetch(new Request(BASE, { method: 'POST', headers: { 'content-type': 'application/json' }, ...init }));

  test('a foreign Host and a foreign Origin are refused; a page of its own address gets CORS headers', async () => {
    const { endpoint } = embedded();
    expect((await endpoint.fetch(new Request('http://evil.example/mcp'))).status).toBe(403);
    expect((await endpoint.fetch(new Request(BASE, { headers: { origin: 'http://evil.example' } }))).status).toBe(403);
    expect((await endpoint.fetch(new Request(BASE, { headers: { origin: 'http://127.0.0.1:3000' } }))).status).toBe(
      403,
    );
    const asked = new Request(BASE, { method: 'OPTIONS', headers: { origin: 'http://127.0.0.1' } });
    const preflight = await endpoint.fetch(asked);
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('http://127.0.0.1');
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, POST, DELETE');
  });

  test('a body is read up to the limit and no further', async () => {
    const server = createServer({ name: 'small', version: '1', log, limits: { maxRequestBytes: 1000 } });
    open.push(() => server.close());
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(600)) });
    const response = await post(server.endpoint(), { body, duplex: 'half' } as RequestInit);
    expect(response.status).toBe(413);
  });

  test('a body that was already read is distinguished from a bad message', async () => {
    const { endpoint } = embedded();
    const request = new Request(BASE, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    await request.text();
    const response = await endpoint.fetch(request);
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('was read before it reached the MCP endpoint');
  });

  test('pages are served, and unknown paths are 404', async () => {
    const { endpoint } = embedded('/api/mcp');
    const get = (path: string) => endpoint.fetch(new Request(`http://localhost${path}`));
    expect(await (await get('/api/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await get('/elsewhere')).text()).toContain('answers at /api/mcp');
    expect((await get('/mcp')).status).toBe(404);
  });

  test('a stream is released when its reader leaves', async () => {
    const { endpoint } = embedded();
    const client = await v1(direct(endpoint));
    const { sessionId } = client.transport as HttpV1;
    const headers = { 'mcp-session-id': sessionId!, accept: 'text/event-stream' };
    const response = await endpoint.fetch(new Request(BASE, { headers }));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    await response.body!.cancel();
    expect(textOf(await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } }))).toBe('2');
  });
});

describe('inside Hono on Node', () => {
  async function served(path = '/mcp') {
    const { endpoint, seen } = embedded(path);
    const app = new Hono();
    app.get('/', (context) => context.text('an app'));
    app.all(`${path.slice(0, path.lastIndexOf('/'))}/*`, (context) => endpoint.fetch(context.req.raw));
    const http = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
    await new Promise((resolve) => http.once('listening', resolve));
    open.push(() => new Promise((resolve) => http.close(resolve)));
    open.push(() => 'closeAllConnections' in http && http.closeAllConnections());
    return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`, seen };
  }

  test.each(['/mcp', '/api/mcp'])('both SDKs call at %s', async (path) => {
    const { url } = await served(path);
    for (const connect of [v1, v2]) {
      const client = await connect(globalThis.fetch, url);
      expect(textOf(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } }))).toBe('5');
      expect(textOf(await client.callTool({ name: 'ask', arguments: {} }))).toBe('Hello Ada');
    }
  });

  test('HTTP+SSE works below a prefix', async () => {
    const { url } = await served('/api/mcp');
    const client = new ClientV1({ name: 'old', version: '1' });
    await client.connect(new SSEClientTransport(new URL(url.replace(/mcp$/, 'sse'))));
    open.push(() => client.close());
    expect(textOf(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } }))).toBe('5');
  });

  test('a broken connection cancels a stateless call', async () => {
    const { url, seen } = await served();
    const stop = new AbortController();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name: 'wait', arguments: {}, _meta: meta };
    const broken = undiciFetch(url, {
      method: 'POST',
      signal: stop.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'wait',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    setTimeout(() => stop.abort(), 200);
    await expect(broken).rejects.toThrow();
    await until('the call to be called off', () => seen.cancelled === 1);
  });
});
