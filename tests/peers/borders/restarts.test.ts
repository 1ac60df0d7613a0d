// A gateway is stopped or killed and restarted: handshake clients never initialize again, so their sessions continue in the new
// process.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { send } from '../../helpers/http-wire.ts';
import { Home } from '../../helpers/parley.ts';
import type { Parley } from '../../helpers/parley.ts';
import { freePort } from '../../helpers/server-process.ts';
import { until } from '../../helpers/until.ts';
import { connectSdk } from './helpers/sdk-clients.ts';
import type { SdkClient } from './helpers/sdk-clients.ts';

const server = (name: string, args: string[] = []) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url)), ...args],
});
const CLIENTS = ['SDK v1', 'SDK v2, handshake'] as const;
const SIGNALS = ['SIGTERM', 'SIGKILL'] as const;
const PAIRS = CLIENTS.flatMap((kind) => SIGNALS.map((signal) => [kind, signal] as const));

const homes: Home[] = [];
afterAll(() => homes.forEach((home) => home[Symbol.dispose]()));

/** `parley serve` that can be ended and started again on its port. */
async function serve(...names: string[]) {
  const home = new Home();
  homes.push(home);
  const port = await freePort();
  const mcpServers = Object.fromEntries(names.map((name) => [name, server(name)]));
  const path = home.write('parley.config.json', { mcpServers, listen: { port } });
  const start = async (): Promise<Parley> => {
    const parley = home.start(['serve', path, '--open', '--log', 'info']);
    await parley.url();
    return parley;
  };
  let parley = await start();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    home,
    configure: (steps: unknown[]) => void home.write('parley.config.json', { mcpServers, listen: { port }, steps }),
    async end(signal: NodeJS.Signals): Promise<void> {
      await parley.stop(signal);
    },
    async start(): Promise<void> {
      parley = await start();
    },
    async restart(signal: NodeJS.Signals): Promise<void> {
      await parley.stop(signal);
      parley = await start();
    },
    said: () => parley.stderr,
    [Symbol.asyncDispose]: () => parley[Symbol.asyncDispose](),
  };
}

function heard(client: SdkClient): { method: string; params?: unknown }[] {
  const all: { method: string; params?: unknown }[] = [];
  (client.client as { fallbackNotificationHandler?: unknown }).fallbackNotificationHandler = async (one: {
    method: string;
  }) => void all.push(one);
  return all;
}

describe.each(PAIRS)('%s, and a gateway that is ended by %s and started again', (kind, signal) => {
  test('goes on with its session: calls, lists, and the stream of the GET', async () => {
    await using gateway = await serve('silent-v1');
    await using client = await connectSdk(kind, gateway.url, { isPatient: true });
    const told = heard(client);
    expect(await client.call('runs')).toBe('0');
    await gateway.restart(signal);
    expect(await client.call('silent', { ms: 1 })).toBe('done');
    expect((await client.client.listTools()).tools.map(({ name }) => name)).toContain('hold');
    gateway.configure([{ filter: { deny: ['hold'] } }]);
    await until('the changed list to be told', () => told.some(({ method }) => method.endsWith('tools/list_changed')));
    await gateway.restart(signal);
    expect(await client.call('runs')).toBe('0');
  });

  test('the client learns that calls in flight are lost', async () => {
    await using gateway = await serve('silent-v1');
    await using client = await connectSdk(kind, gateway.url, { isPatient: true });
    const tokens: string[] = [];
    const call = client.call('hold', { key: 'never' }, (token) => void tokens.push(token)).catch(String);
    await until('its stream to be primed', () => tokens.length > 0);
    await gateway.restart(signal);
    expect(await call).toContain('may or may not have taken effect');
    expect(await client.call('runs')).toBe('0');
  });
});

test('the log level and subscriptions go on as well', async () => {
  await using gateway = await serve('memo-v1');
  await using client = await connectSdk('SDK v1', gateway.url, { isPatient: true });
  const told = heard(client);
  await client.client.setLoggingLevel('debug');
  await client.client.subscribeResource({ uri: 'memo://one' });
  for (const signal of SIGNALS) {
    await gateway.restart(signal);
    told.length = 0;
    await until('the server to know the subscription', async () => (await client.call('update')) === 'true');
    await until('the update', () => told.some(({ method }) => method === 'notifications/resources/updated'));
    await client.call('say', { level: 'debug' });
    await until('the log line', () => told.some(({ method }) => method === 'notifications/message'));
  }
  await client.client.unsubscribeResource({ uri: 'memo://one' });
  await gateway.restart('SIGKILL');
  expect(await client.call('update')).toBe('false');
});

describe('a session id is worth nothing', () => {
  const folders: string[] = [];
  const newFolder = (): string => {
    folders.push(mkdtempSync(join(tmpdir(), 'parley-sessions-')));
    return folders.at(-1)!;
  };
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));
  const ping = (url: string, id: string) =>
    send(url, { headers: { 'mcp-session-id': id }, body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
  const open = async (url: string, extra: object = {}, headers: Record<string, string> = {}) => {
    const clientInfo = { name: 'raw', version: '1', ...extra };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const opened = await send(url, { headers, body: { jsonrpc: '2.0', id: 0, method: 'initialize', params } });
    return opened.headers['mcp-session-id'] as string;
  };

  test('after a restart if it was deleted, altered, made up, or the journal is gone', async () => {
    await using gateway = await serve('silent-v1');
    const [kept, deleted] = [await open(gateway.url), await open(gateway.url)];
    await send(gateway.url, { method: 'DELETE', headers: { 'mcp-session-id': deleted } });
    for (const signal of SIGNALS) {
      await gateway.restart(signal);
      expect((await ping(gateway.url, deleted)).status).toBe(404);
      expect((await send(gateway.url, { method: 'GET', headers: { 'mcp-session-id': deleted } })).status).toBe(404);
    }
    const altered = kept.slice(0, -2) + (kept.endsWith('AA') ? 'BB' : 'AA');
    const ids = [altered, kept.slice(1), `${kept}${kept}`, kept.repeat(50).slice(0, 20_000), 'x', '='.repeat(100)];
    for (const id of ids) expect((await ping(gateway.url, id)).status).toBe(404);
    expect((await ping(`${gateway.url}/silent-v1`, kept)).status).toBe(404); // it was opened on another path
    expect((await ping(gateway.url, kept)).status).toBe(200);
    await send(gateway.url, { method: 'DELETE', headers: { 'mcp-session-id': kept } });
    expect((await ping(gateway.url, kept)).status).toBe(404); // taken over once, and not again
    const other = await open(gateway.url);
    await gateway.end('SIGKILL');
    const state = join(gateway.home.path, 'state', 'parley');
    for (const name of readdirSync(state)) if (name.startsWith('sessions-')) rmSync(join(state, name));
    await gateway.start();
    expect((await ping(gateway.url, other)).status).toBe(404);
  });

  const startGateway = async (options: Partial<GatewayOptions>) => {
    const log = createLog({ level: 'silent' });
    const gateway = createGateway({ servers: { silent: server('silent-v1') }, log, startMs: 60_000, ...options });
    const { url } = await gateway.listen({ port: 0 });
    return { url, [Symbol.asyncDispose]: () => gateway.close() };
  };
  const identify: GatewayOptions['identify'] = ({ headers }) => String(headers['x-user']);

  test('to another user', async () => {
    const stateFolder = newFolder();
    let id: string;
    {
      await using first = await startGateway({ stateFolder, identify });
      id = await open(first.url, {}, { 'x-user': 'alice' });
    }
    await using second = await startGateway({ stateFolder, identify });
    const as = (user: string) =>
      send(second.url, {
        headers: { 'mcp-session-id': id, 'x-user': user },
        body: { jsonrpc: '2.0', id: 1, method: 'ping' },
      });
    expect([(await as('bob')).status, (await as('alice')).status, (await as('bob')).status]).toEqual([404, 200, 404]);
  });

  test('to a later gateway without the same folder, or if its client says too much for the journal', async () => {
    const stateFolder = newFolder();
    const keys = ['one key for all of them'];
    const ids: string[] = [];
    {
      await using plain = await startGateway({ keys });
      await using first = await startGateway({ keys, stateFolder });
      ids.push(await open(plain.url), await open(first.url), await open(first.url, { description: 'd'.repeat(5000) }));
    }
    expect(ids.map((id) => id.length)).toEqual([22, 22, 22]);
    const statuses = async (options: Partial<GatewayOptions>) => {
      await using later = await startGateway(options);
      return await Promise.all(ids.map(async (id) => (await ping(later.url, id)).status));
    };
    expect(await statuses({ keys })).toEqual([404, 404, 404]);
    expect(await statuses({ keys, stateFolder: newFolder() })).toEqual([404, 404, 404]);
    expect(await statuses({ keys, stateFolder })).toEqual([404, 200, 404]);
  });
});
