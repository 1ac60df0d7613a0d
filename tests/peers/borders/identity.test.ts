// The embedding program identifies callers, asynchronously and with claims; steps and tools can read the result and the
// transport.
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from '../../../src/_entries/index.ts';
import type { ClientView, Identify } from '../../../src/_entries/index.ts';
import { onCall } from '../../../src/_entries/middleware.ts';

const log = createLog({ level: 'silent' });
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** Looks the token up, as an introspection endpoint would. */
const identify: Identify = async ({ headers }) => {
  await new Promise((resolve) => setImmediate(resolve));
  if (headers.authorization === 'Bearer broken') throw new Error('the directory is down: secret-of-the-directory');
  const name = headers.authorization?.replace('Bearer ', '');
  return name === undefined ? undefined : { principal: name, claims: { team: `${name}s` } };
};

async function serving() {
  const seen: ClientView[] = [];
  const server = createServer({ name: 'inner', version: '1', log });
  server.tool('hello', {}, () => 'hello');
  const look = onCall((exchange, next) => {
    seen.push(exchange.client);
    return next();
  });
  const gateway = createGateway({ servers: { inner: server }, steps: [look], identify, log });
  open.push(() => gateway.close());
  return { seen, url: new URL((await gateway.listen({ port: 0 })).url) };
}

const as = (name: string) => ({ requestInit: { headers: { authorization: `Bearer ${name}`, 'x-trace': 'abc' } } });

test('an async identify with claims reaches steps, for clients of both SDKs', async () => {
  const { url, seen } = await serving();
  const old = new ClientV1({ name: 'v1', version: '1' });
  await old.connect(new HttpV1(url, as('ann')));
  const modern = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await modern.connect(new HttpV2(url, as('bob')));
  open.push(() => Promise.all([old.close(), modern.close()]));
  await old.callTool({ name: 'hello', arguments: {} });
  await modern.callTool({ name: 'hello', arguments: {} });
  expect(seen).toMatchObject([
    {
      principal: 'ann',
      connection: {
        transport: 'http',
        session: expect.any(String),
        identity: { principal: 'ann', claims: { team: 'anns' } },
        headers: { 'x-trace': 'abc' },
      },
    },
    {
      principal: 'bob',
      connection: { transport: 'http', identity: { claims: { team: 'bobs' } }, headers: { 'x-trace': 'abc' } },
    },
  ]);
  expect(seen[1].connection).not.toHaveProperty('session');
});

test('a session belongs to the principal that opened it', async () => {
  const { url } = await serving();
  const client = new ClientV1({ name: 'v1', version: '1' });
  const transport = new HttpV1(url, as('ann'));
  await client.connect(transport);
  open.push(() => client.close());
  const stranger = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: 'Bearer eve',
      'mcp-session-id': transport.sessionId!,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(stranger.status).toBe(404);
});

test('an identify that fails refuses the request, and says nothing of its reasons', async () => {
  const { url } = await serving();
  const client = new ClientV1({ name: 'v1', version: '1' });
  const refused = await client.connect(new HttpV1(url, as('broken'))).catch((error: unknown) => String(error));
  expect(refused).toContain('Internal error');
  expect(refused).not.toContain('secret-of-the-directory');
});
