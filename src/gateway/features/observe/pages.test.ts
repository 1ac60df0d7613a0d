import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../../sdk/client/connect.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { until } from '../../../../tests/helpers/until.ts';
import { createGateway } from '../../gateway.ts';
import type { GatewayOptions } from '../../gateway.ts';
import { notReady } from '../../../mcp/listen/http/health.ts';
import type { ServerHealth } from '../../../mcp/listen/http/health.ts';
import { version } from '../../../kernel/version.ts';
import { createAuditLog } from '../audit/audit-log.ts';
import { parseMetrics } from '../../../kernel/base/parse-metrics.contract.ts';

const log = createLog({ level: 'silent' });
/** Under which other machines reach this one. */
const OWN_ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
const DEAD = { command: 'no-such-command-anywhere' };
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function speaking(name: string) {
  const server = createServer({ name, version: '1', log });
  server.tool('hello', {}, () => 'hello');
  return server;
}

async function listening(options: GatewayOptions, host = '127.0.0.1') {
  const gateway = createGateway({ log, ...options });
  closing.push(() => gateway.close());
  const { url, port } = await gateway.listen({ port: 0, host, open: true });
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    const text = await response.text();
    return { status: response.status, type: response.headers.get('content-type'), text };
  };
  return { gateway, url, get };
}

describe('/healthz', () => {
  it('says that the process is up, whatever its servers do', async () => {
    const { get } = await listening({ servers: { dead: { server: DEAD, start: 'eager' } } });
    expect(await get('/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}\n' });
    expect(await get('/healthz', 'HEAD')).toMatchObject({ status: 200, text: '' });
    expect(await get('/healthz', 'POST')).toMatchObject({ status: 405 });
  });
});

describe('/readyz', () => {
  it('/readyz is 200 with servers that can be used', async () => {
    const { get } = await listening({ servers: { one: speaking('one'), lazy: DEAD } });
    const { status, text } = await get('/readyz');
    expect([status, JSON.parse(text)]).toEqual([200, { status: 'ready', servers: { one: 'ready', lazy: 'idle' } }]);
  });

  it('/readyz is 503 while an eager server is not there, and names it, but not why', async () => {
    const { get } = await listening({ servers: { one: speaking('one'), dead: { server: DEAD, start: 'eager' } } });
    const { text } = await until('the server to fail', async () => {
      const page = await get('/readyz');
      return page.text.includes('failing') ? page : undefined;
    });
    expect(JSON.parse(text)).toEqual({
      status: 'not ready',
      servers: { one: 'ready', dead: 'failing' },
      notReady: ['dead'],
    });
    expect((await get('/readyz')).status).toBe(503);
  });

  it('names no servers to others, such as those behind a proxy', async () => {
    const { url } = await listening({ servers: { one: speaking('one') } });
    const asked = await fetch(url.replace('/mcp', '/readyz'), { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect([asked.status, await asked.json()]).toEqual([200, { status: 'ready' }]);
  });

  it.skipIf(OWN_ADDRESS === undefined)('names no servers to other machines', async () => {
    const { url } = await listening({ servers: { one: speaking('one') }, allowedHosts: [OWN_ADDRESS!] }, '0.0.0.0');
    const { port } = new URL(url);
    const asked = await fetch(`http://${OWN_ADDRESS}:${port}/readyz`);
    expect([asked.status, await asked.json()]).toEqual([200, { status: 'ready' }]);
    const near = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(await near.json()).toEqual({ status: 'ready', servers: { one: 'ready' } });
  });

  it('/readyz retries a failed server, and is 200 once it is up', async () => {
    const later = createHttpServer();
    await new Promise<void>((resolve) => later.listen(0, '127.0.0.1', resolve));
    const { port } = later.address() as AddressInfo;
    await new Promise((resolve) => later.close(resolve));
    const late = { server: `http://127.0.0.1:${port}/mcp`, start: 'eager' } as const;
    const { get } = await listening({ servers: { late } });
    await until('the server to fail', async () => (await get('/readyz')).text.includes('failing'));
    const server = speaking('late');
    closing.push(() => server.close());
    await server.listen({ port });
    await until('the server to be there', async () => (await get('/readyz')).status === 200);
  });

  it('needs every eager server, or else one that can be used', () => {
    const health = (state: ServerHealth['state'], isEager = false) => ({ name: state, state, isEager });
    const missing = (...servers: ServerHealth[]) => notReady(servers).map(({ name }) => name);
    expect(missing(health('starting', true), health('ready'))).toEqual(['starting']);
    expect(missing(health('failing', true), health('ready', true))).toEqual(['failing']);
    expect(missing(health('ready', true), health('failing'))).toEqual([]);
    expect(missing(health('failing'), health('idle'))).toEqual([]);
    expect(missing(health('idle', true))).toEqual([]);
    expect(missing(health('failing'), health('failing'))).toEqual(['failing', 'failing']);
  });
});

describe('/metrics', () => {
  it('tells of clients and servers', async () => {
    const { url, get } = await listening({ servers: { one: speaking('one'), dead: DEAD } });
    const client = await connect(url, { log, revision: '2025-11-25' });
    await client.callTool('one__hello');
    const { status, type, text } = await get('/metrics');
    const metrics = parseMetrics(text);
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(metrics).toMatchObject({
      parley_exchanges_total: { 'client=handshake,method=tools/call,outcome=ok,server=one': 1 },
      parley_sessions: { '': 1 },
      parley_upstream_state: { 'server=one,state=ready': 1, 'server=dead,state=failing': 1 },
      parley_upstream_restarts_total: { 'server=dead': 0 },
    });
    expect(text).not.toContain('hello');
    await client.close();
    await until('the session to end', async () => (await get('/metrics')).text.includes('parley_sessions 0'));
  });

  it('tells of the process and its build, under the names that dashboards for Node use', async () => {
    const { get } = await listening({ servers: { one: speaking('one') } });
    const metrics = parseMetrics((await get('/metrics')).text);
    expect(metrics.parley_build_info).toEqual({ [`node=${process.versions.node},version=${version()}`]: 1 });
    expect(metrics.process_resident_memory_bytes?.['']).toBeGreaterThan(1e6);
    expect(metrics.process_cpu_seconds_total?.['']).toBeGreaterThan(0);
    expect(metrics.process_start_time_seconds?.['']).toBeLessThan(Date.now() / 1000);
    const lagging = await until('a delay of the event loop', async () => {
      const again = parseMetrics((await get('/metrics')).text);
      return again.nodejs_eventloop_lag_p99_seconds?.[''] ? again : undefined;
    });
    expect(lagging.nodejs_eventloop_lag_max_seconds?.['']).toBeGreaterThan(0);
  });

  it('counts openings, refusals by their status, logins and approvals, and names no one', async () => {
    const key = 'parley_a-key-for-the-metrics-test';
    const ops = 'parley_a-key-for-who-looks-at-it';
    const keys = [
      { name: 'ann', key, scopes: ['mcp'] },
      { name: 'ops', key: ops, scopes: ['admin'] },
    ];
    const auth = { scopes: ['mcp'], keys };
    const { gateway, url } = await listening({ servers: { one: speaking('one') }, auth, observe: { metrics: true } });
    const call = (headers: Record<string, string>) => fetch(url, { method: 'POST', headers, body: '{}' });
    expect((await call({})).status).toBe(401);
    expect((await call({ authorization: 'Bearer parley_wrong' })).status).toBe(401);
    expect((await fetch(url.replace('/mcp', '/status'), { headers: { authorization: `Bearer ${key}` } })).status).toBe(
      404,
    );
    const client = await connect({ url, headers: { Authorization: `Bearer ${key}` } }, { log, revision: '2025-11-25' });
    closing.push(() => client.close());
    const seen = await fetch(url.replace('/mcp', '/metrics'), { headers: { authorization: `Bearer ${ops}` } });
    const text = await seen.text();
    const metrics = parseMetrics(text);
    expect(metrics.parley_refusals_total).toEqual({ 'code=UNAUTHORIZED,status=401': 2 });
    expect(metrics.parley_logins_total).toEqual({ 'outcome=ok,server=': 2 });
    expect(metrics.parley_opening_duration_seconds_count).toEqual({ 'client=handshake': 1 });
    expect(text).toContain('# TYPE parley_approvals_total counter');
    expect(text).not.toContain('ann');
    await gateway.close();
  });

  it('counts what the audit log could not write', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-metrics-'));
    closing.push(async () => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'audit'), 'a file is in the way');
    const audit = createAuditLog({ folder: join(folder, 'audit'), log });
    closing.push(() => audit.close());
    const { url, get } = await listening({ servers: { one: speaking('one') }, audit: audit.record });
    const lost = async () => parseMetrics((await get('/metrics')).text).parley_audit_lost_total?.[''];
    expect(await lost()).toBe(0);
    const client = await connect(url, { log });
    closing.push(() => client.close());
    await client.callTool('one__hello');
    await until('the loss to be counted', async () => ((await lost()) ?? 0) > 0);
  });

  it('counts a server that died and came back', async () => {
    const { command, args } = { command: process.execPath, args: ['tests/fixtures/servers/dies-mid-call.mjs'] };
    const { url, get } = await listening({ servers: { frail: { command, args } } });
    const client = await connect(url, { log });
    closing.push(() => client.close());
    const lost = async () => parseMetrics((await get('/metrics')).text).parley_upstream_lost_total?.['server=frail'];
    await expect(client.callTool('die')).rejects.toThrow();
    await until('the loss to be counted', async () => (await lost()) === 1);
    await client.listTools();
    const metrics = parseMetrics((await get('/metrics')).text);
    expect(metrics.parley_upstream_restarts_total).toEqual({ 'server=frail': 1 });
    expect(metrics.parley_errors_total).toEqual({ 'code=TOOL_UNREACHABLE': 1 });
  });

  it('/metrics is served only on private ports, unless it is enabled', async () => {
    const servers = { one: speaking('one') };
    const statusOf = async (options: Partial<GatewayOptions>, host?: string) => {
      const { get } = await listening({ servers, ...options }, host);
      return (await get('/metrics')).status;
    };
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ observe: { metrics: false } })).toBe(404);
    expect(await statusOf({}, '0.0.0.0')).toBe(404);
    expect(await statusOf({ observe: { metrics: true } }, '0.0.0.0')).toBe(200);
  });

  it('a page of the embedding program takes precedence', async () => {
    const own = (_: unknown, response: { end(text: string): void }) => response.end('own');
    const { get } = await listening({ servers: { one: speaking('one') }, pages: { '/metrics': own, '/more': own } });
    expect([(await get('/metrics')).text, (await get('/more')).text]).toEqual(['own', 'own']);
    expect((await get('/healthz')).status).toBe(200);
  });
});
