// A client of any dialect cannot cancel the requests of another client by naming their ids.
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import { ROOT } from '../../helpers/files.ts';
import { until } from '../../helpers/until.ts';
import { connectSdk } from './helpers/sdk-clients.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** A session that is opened by hand, and what it posts. */
async function attacker(url: string, opening: object) {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = (message: object): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const opened = await post({ id: 1, method: 'initialize', params: opening });
  await opened.text();
  headers['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? '';
  return post;
}

const OPENINGS = [
  ['draft', { mcpVersion: '2025-06-18', clientCapabilities: { supportsCancellation: false } }],
  ['handshake', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'attacker', version: '1' } }],
] as const;

test.each(OPENINGS)('a %s client cannot cancel the call of another on a shared SDK v1 server', async (_, opening) => {
  const silent = { command: process.execPath, args: [join(ROOT, 'tests/peers/borders/servers/silent-v1.mjs')] };
  const gateway = createGateway({ servers: { silent }, log: createLog({ level: 'silent' }) });
  open.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  const victim = await connectSdk('SDK v1', url);
  open.push(() => victim.client.close());
  const other = await connectSdk('SDK v1', url);
  open.push(() => other.client.close());
  const answer = victim.call('hold', { key: 'money' });
  await until('the call to run', async () => (await other.call('runs')) === '1');
  const post = await attacker(url, opening);
  for (let requestId = 0; requestId < 12; requestId++) {
    for (const method of ['notifications/cancelled', 'cancel']) {
      await (await post({ method, params: { requestId, id: requestId, reason: 'by the attacker' } })).text();
    }
  }
  await (await post({ method: 'exit' })).text();
  await other.call('go', { key: 'money' });
  expect(await answer).toBe('released');
});
