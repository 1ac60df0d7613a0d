// Rates before clients and servers of the official SDKs: clients learn that they call too often and go on later, and a limit of a real proxy
// before a server is respected.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../src/kernel/fake-exchange.contract.ts';
import { serving, well } from '../../helpers/moody.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';
import { startNginxWith } from './helpers/nginx.ts';

test.each(KINDS)('%s learns that it calls too often, stays connected, and continues later', async (kind) => {
  const clock = new FakeClock();
  const rate = { tools: { one_echo: '2/min' } };
  await using gateway = await serving({ servers: { one: well('one') }, startMs: 60_000, clock, rate });
  await using sdk = await connectSdk(kind, gateway.url);
  const call = () => sdk.call('one__one_echo', { text: 'x' });
  for (let n = 0; n < 2; n++) expect(await call()).toContain('x');
  const refused = (await call().catch((error: unknown) => error)) as Error & { code: unknown; data?: unknown };
  expect(refused.message).toContain('one_echo allows 2/min');
  expect(refused.message).toContain('"retryAfterMs":30000');
  expect(JSON.stringify([refused.code, refused.data])).toContain('429');
  expect(await sdk.call('one__one_pid')).toMatch(/\d+/);
  await clock.advance(30_000);
  expect(await call()).toContain('x');
});

/** A server of SDK v2 that counts calls, behind an nginx that lets few of them pass. */
async function limitedByNginx() {
  let calls = 0;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'v2', version: '1' });
    server.registerTool('look', { description: 'Looks' }, () => {
      calls++;
      return { content: [{ type: 'text', text: 'seen' }] };
    });
    return server;
  });
  const http = createServer(toNodeHandler(handler));
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const nginx = await startNginxWith(
    (own) => `
    map $http_mcp_method $calls { default ""; "tools/call" $server_port; }
    limit_req_zone $calls zone=calls:1m rate=2r/m;
    limit_req_status 429;
    server {
      listen 127.0.0.1:${own};
      error_page 429 @later;
      location @later { add_header Retry-After 30 always; return 429; }
      location / { limit_req zone=calls burst=1 nodelay; proxy_pass http://127.0.0.1:${port}; }
    }`,
  );
  return {
    url: `${nginx.origin}/mcp`,
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      await nginx[Symbol.asyncDispose]();
      http.closeAllConnections();
      http.close();
    },
  };
}

test.each(KINDS)(
  '%s gets the limit of a proxy before a server, and the gateway leaves that server alone',
  async (kind) => {
    await using limited = await limitedByNginx();
    const clock = new FakeClock();
    const servers = { limited: { server: limited.url, revision: '2026-07-28' }, one: well('one') };
    await using gateway = await serving({ servers, startMs: 60_000, clock });
    await using sdk = await connectSdk(kind, gateway.url);
    const words = async () => ((await sdk.call('limited__look').catch((error: unknown) => error)) as Error).message;
    for (let n = 0; n < 2; n++) expect(await sdk.call('limited__look')).toBe('seen');
    const refused = (await sdk.call('limited__look').catch((error: unknown) => error)) as {
      code: number;
      data: unknown;
    };
    expect(refused).toMatchObject({ code: -32000, data: { retryAfterMs: 30_000 } });
    expect(await words()).toContain('it has asked not to be called');
    expect(await sdk.call('one__one_echo', { text: 'x' })).toContain('x');
    await clock.advance(30_000);
    expect(await words()).toContain('HTTP 429'); // asked again: by the clock of nginx it is too soon
    expect(limited.calls()).toBe(2);
  },
);
