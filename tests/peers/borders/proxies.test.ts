// A gateway behind a real nginx on the same machine: where clients come from is believed only from proxies that the operator trusts, and the
// pages of operators are not open to everybody who reaches the proxy.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { send } from '../../helpers/http-wire.ts';
import { modern } from '../../helpers/mcp-http.ts';
import { serving, well } from '../../helpers/moody.ts';
import { startNginx } from './helpers/nginx.ts';

const STATUS = 'the state of all servers';
/** Clients come from other loopback addresses than nginx. */
const NGINX = ['127.0.0.1'];
const FORWARDS = ['proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for'];
/** With a Host of its own, HTTP/1.1, and no word about the client. */
const PLAIN: string[] = [];

async function behindNginx(options: Partial<GatewayOptions>, location = FORWARDS) {
  const gateway = await serving({
    servers: { one: well('one') },
    startMs: 60_000,
    pages: { '/status': (_, response) => void response.writeHead(200).end(STATUS) },
    ...options,
  });
  const nginx = await startNginx(gateway.url, location);
  return {
    gateway,
    origin: nginx.origin,
    direct: new URL(gateway.url).origin,
    async call(from: string, headers: Record<string, string> = {}) {
      const request = modern('tools/call', { name: 'one__one_echo', arguments: { text: 'x' } });
      return send(`${nginx.origin}/mcp`, { ...request, headers: { ...request.headers, ...headers }, from });
    },
    async [Symbol.asyncDispose]() {
      await nginx[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

const statuses = async (calls: Promise<{ status: number }>[]) => (await Promise.all(calls)).map(({ status }) => status);

test('a rate counts the clients behind a trusted proxy apart, and believes nothing that they write', async () => {
  await using proxy = await behindNginx({ trustProxy: NGINX, rate: { perCaller: '1/h' } });
  expect((await proxy.call('127.0.0.2')).status).toBe(200);
  expect((await proxy.call('127.0.0.2')).status).toBe(429);
  expect((await proxy.call('127.0.0.3')).status).toBe(200);
  for (const [name, value] of [
    ['x-forwarded-for', '6.6.6.6'],
    ['x-forwarded-for', '6.6.6.6, 127.0.0.1'],
    ['forwarded', 'for=6.6.6.6'],
    ['x-real-ip', '6.6.6.6'],
  ] as const) {
    expect((await proxy.call('127.0.0.2', { [name]: value })).status).toBe(429);
  }
});

test('without trust all clients of a proxy are one caller, whatever headers say', async () => {
  await using proxy = await behindNginx({ rate: { perCaller: '1/h' } });
  expect((await proxy.call('127.0.0.2')).status).toBe(200);
  expect((await proxy.call('127.0.0.3')).status).toBe(429);
  expect((await proxy.call('127.0.0.4', { 'x-forwarded-for': '6.6.6.6' })).status).toBe(429);
});

test('a client that reaches the port past the proxy is not believed', async () => {
  await using proxy = await behindNginx({ trustProxy: NGINX, rate: { perCaller: '1/h' } });
  const past = (address: string) => {
    const request = modern('tools/call', { name: 'one__one_echo', arguments: { text: 'x' } });
    const headers = { ...request.headers, 'x-forwarded-for': address, forwarded: `for=${address}` };
    return send(proxy.gateway.url, { ...request, headers, from: '127.0.0.9' });
  };
  expect([(await past('6.6.6.6')).status, (await past('7.7.7.7')).status]).toEqual([200, 429]);
});

test('sessions are counted by the address of their clients, and the audit log names it', async () => {
  const lines: { details?: { from?: string } }[] = [];
  const audit = (line: object) => void lines.push(line);
  await using proxy = await behindNginx({ trustProxy: NGINX, limits: { maxSessionsPerCaller: 1 }, audit });
  const open = async (from: string) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const { headers } = await send(`${proxy.origin}/mcp`, { body, from });
    return { 'mcp-session-id': headers['mcp-session-id'] as string };
  };
  const ping = async (headers: Record<string, string>) =>
    (await send(`${proxy.origin}/mcp`, { body: { jsonrpc: '2.0', id: 2, method: 'ping' }, headers })).status;
  const sessions = [await open('127.0.0.2'), await open('127.0.0.3'), await open('127.0.0.2')];
  expect([await ping(sessions[0]), await ping(sessions[1]), await ping(sessions[2])]).toEqual([404, 200, 200]);
  await send(`${proxy.origin}/mcp`, { body: {}, headers: { origin: 'https://evil.example' }, from: '127.0.0.4' });
  expect(lines.map(({ details }) => details?.from)).toContain('127.0.0.4');
});

test.each<[string, string[], Partial<GatewayOptions>]>([
  ['as it is installed', PLAIN, {}],
  ['with X-Forwarded-For', FORWARDS, {}],
  ['with the Host of the client', ['proxy_set_header Host $host', ...FORWARDS], { allowedHosts: ['127.0.0.1'] }],
  ['with X-Forwarded-Proto alone', ['proxy_http_version 1.1', 'proxy_set_header X-Forwarded-Proto $scheme'], {}],
  ['that hides itself, but is trusted', ['proxy_http_version 1.1'], { trustProxy: 'loopback' }],
  ['that hides itself, with a public URL', ['proxy_http_version 1.1'], { publicUrl: 'https://mcp.example.com' }],
])('nobody sees the pages of operators through nginx %s', async (_, location, options) => {
  await using proxy = await behindNginx(options, location);
  const get = (url: string) => send(url, { method: 'GET' });
  expect(await statuses(['/status', '/metrics'].map((path) => get(proxy.origin + path)))).toEqual([403, 403]);
  expect((await get(`${proxy.origin}/healthz`)).status).toBe(200);
  expect((await proxy.call('127.0.0.2')).status).toBe(200);
});

test('where there is no proxy, this machine sees them', async () => {
  await using proxy = await behindNginx({});
  expect((await send(`${proxy.direct}/status`, { method: 'GET' })).text).toBe(STATUS);
});

test('with a login they need its admin scope, through nginx, too', async () => {
  const key = (name: string, scopes: string[]) => ({ name, key: `${name}-${'k'.repeat(40)}`, scopes });
  const auth = { keys: [key('ann', ['admin']), key('bob', [])] };
  await using proxy = await behindNginx({ auth }, PLAIN);
  const get = async (name?: string) => {
    const headers = name === undefined ? {} : { authorization: `Bearer ${name}-${'k'.repeat(40)}` };
    return (await send(`${proxy.origin}/status`, { method: 'GET', headers })).status;
  };
  expect([await get(), await get('bob'), await get('ann')]).toEqual([401, 403, 200]);
});

test('a request with two Host headers is refused', async () => {
  await using gateway = await serving({ servers: {} });
  const { port } = new URL(gateway.url);
  const hosts = ['127.0.0.1', 'evil.example'];
  for (const [first, second] of [hosts, hosts.toReversed(), ['127.0.0.1', '127.0.0.1']]) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(`GET /healthz HTTP/1.1\r\nHost: ${first}\r\nConnection: close\r\nhOST: ${second}\r\n\r\n`);
    let said = '';
    for await (const chunk of socket) said += String(chunk);
    expect(said.split('\r\n')[0]).toBe('HTTP/1.1 400 Bad Request');
  }
});
