// Embeds the endpoint in other HTTP servers on Node: Express below a prefix, Fastify with a hook and with a route, the pages
// router of Next.
import { createServer as createHttp } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import express from 'express';
import fastify from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from '../../../src/_entries/index.ts';
import type { EndpointOptions, HttpEndpoint } from '../../../src/_entries/index.ts';

const log = createLog({ level: 'silent' });
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

function embedded(options?: EndpointOptions): HttpEndpoint {
  const server = createServer({ name: 'inner', version: '1', log });
  server.tool('add', { a: 'number', b: 'number' }, ({ a, b }) => String(Number(a) + Number(b)));
  server.tool('wait', { ms: 'number' }, async ({ ms }, call) => {
    call.progress(1, 2);
    await new Promise((resolve) => setTimeout(resolve, Number(ms)));
    return 'waited';
  });
  const gateway = createGateway({ servers: { inner: server }, log });
  open.push(() => gateway.close());
  return gateway.endpoint(options);
}

async function listening(http: Server): Promise<string> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  open.push(() => new Promise((resolve) => http.close(resolve).closeAllConnections()));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function callBoth(url: string): Promise<unknown[]> {
  const old = new ClientV1({ name: 'v1', version: '1' });
  await old.connect(new HttpV1(new URL(url)));
  const modern = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await modern.connect(new HttpV2(new URL(url)));
  open.push(() => Promise.all([old.close(), modern.close()]));
  const results = [];
  for (const client of [old, modern]) {
    results.push(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } }));
    results.push(await client.callTool({ name: 'wait', arguments: { ms: 10 } }));
  }
  return results.map(textOf);
}

function textOf({ content }: { content: { text: string }[] }): string {
  return content[0].text;
}

const ANSWERS = ['5', 'waited', '5', 'waited'];
const ping = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
};

describe('Express', () => {
  test('below a prefix that the app takes off, HTTP+SSE too', async () => {
    const url = await listening(createHttp(express().use('/api', embedded().handle)));
    expect(await callBoth(`${url}/api/mcp`)).toEqual(ANSWERS);
    const client = new ClientV1({ name: 'sse', version: '1' });
    await client.connect(new SSEClientTransport(new URL(`${url}/api/sse`)));
    open.push(() => client.close());
    const sum = await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } });
    expect(sum).toMatchObject({ content: [{ text: '2' }] });
  });

  test('at a path of its own choosing, behind a body parser', async () => {
    const app = express().use(express.json());
    app.use(embedded({ path: '/v1/tools' }).handle);
    const url = await listening(createHttp(app));
    expect(await callBoth(`${url}/v1/tools`)).toEqual(ANSWERS);
    expect((await fetch(`${url}/mcp`, ping)).status).toBe(404);
  });
});

describe('Fastify', () => {
  test('by a hook before bodies are parsed; its own routes are untouched', async () => {
    const endpoint = embedded();
    const app = fastify();
    app.addHook('onRequest', (request, reply, done) => endpoint.handle(request.raw, reply.raw, done));
    app.post('/own', (request) => ({ got: request.body }));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    open.push(() => app.close());
    expect(await callBoth(`${url}/mcp`)).toEqual(ANSWERS);
    const own = await fetch(`${url}/own`, ping);
    expect(await own.json()).toMatchObject({ got: { method: 'ping' } });
  });

  test('by a route whose body Fastify has parsed: the body goes along', async () => {
    const endpoint = embedded({ path: '/api/mcp' });
    const app = fastify();
    app.all('/api/mcp', (request, reply) => {
      reply.hijack();
      endpoint.handle(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    open.push(() => app.close());
    expect(await callBoth(`${url}/api/mcp`)).toEqual(ANSWERS);
  });

  test('a body that was parsed and not handed on is named as the reason', async () => {
    const endpoint = embedded();
    const app = fastify();
    app.post('/mcp', (request, reply) => {
      reply.hijack();
      endpoint.handle(request.raw, reply.raw);
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    open.push(() => app.close());
    const answer = await fetch(`${url}/mcp`, ping);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('was read before') } });
  });
});

test('a handler like those of the pages router of Next, which parses bodies, at /api/mcp', async () => {
  const endpoint = embedded({ path: '/api/mcp' });
  const handler = (request: IncomingMessage, response: ServerResponse) => endpoint.handle(request, response);
  const url = await listening(
    createHttp((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        if (text !== '') Object.assign(request, { body: JSON.parse(text) as unknown });
        handler(request, response);
      });
    }),
  );
  expect(await callBoth(`${url}/api/mcp`)).toEqual(ANSWERS);
});
