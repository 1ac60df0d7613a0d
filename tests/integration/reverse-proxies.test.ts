// The proxies of docs/guides/service.md, each a real program with its file of examples/service: streams arrive while they are open, messages beyond the limit
// that a proxy has by default pass, and bodies that Parley would never take end at the proxy.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createSocketServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, createGateway, createLog, createServer } from '../../src/_entries/index.ts';
import { until, within } from '../helpers/until.ts';

const example = (name: string): string =>
  readFileSync(new URL(`../../examples/service/${name}`, import.meta.url), 'utf8');
const log = createLog({ level: 'silent' });
const closing: (() => Promise<unknown>)[] = [];
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ports {
  /** Of the proxy. */
  own: number;
  parley: number;
}

/** Writes the file of the example with our ports, and returns the command. */
const PROXIES: Record<string, (ports: Ports) => [string, ...string[]]> = {
  nginx({ own, parley }) {
    const site = example('nginx.conf')
      .replace(/listen 80;.*/, `listen 127.0.0.1:${own};`)
      .replace('127.0.0.1:8470', `127.0.0.1:${parley}`);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${folder}/${kind};`,
    );
    write(
      'nginx.conf',
      `daemon off; pid ${folder}/nginx.pid; events {} http { access_log off; ${paths.join(' ')} ${site} }`,
    );
    return ['nginx', '-e', 'stderr', '-p', folder, '-c', 'nginx.conf'];
  },
  caddy({ own, parley }) {
    const site = example('Caddyfile')
      .replace('mcp.example.com {', `http://127.0.0.1:${own}, http://mcp.example.com:${own} {`)
      .replace('127.0.0.1:8470', `127.0.0.1:${parley}`);
    write('Caddyfile', `{\n\tadmin off\n}\n${site}`);
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
  },
  haproxy({ own, parley }) {
    const site = example('haproxy.cfg')
      .replace(/bind :80.*/, `bind 127.0.0.1:${own}`)
      .replace('127.0.0.1:8470', `127.0.0.1:${parley}`);
    write('haproxy.cfg', site);
    return ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')];
  },
};

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function startGateway() {
  const gate = { open: (): void => {} };
  const server = createServer({ name: 'one', version: '1', log });
  server.tool('size', { input: { type: 'object', properties: { text: { type: 'string' } } } }, ({ text }) =>
    String(String(text).length),
  );
  server.tool('slow', {}, async (_, call) => {
    call.progress(1, 2);
    await new Promise<void>((resolve) => (gate.open = resolve));
    return 'done';
  });
  const gateway = createGateway({
    servers: { one: server },
    log,
    publicUrl: 'http://mcp.example.com',
    allowedHosts: ['mcp.example.com', '127.0.0.1'],
    trustProxy: 'loopback',
  });
  closing.push(() => gateway.close());
  const { port } = await gateway.listen({ port: 0, open: true });
  return { port, gate };
}

async function startProxy(name: string, parley: number): Promise<string> {
  const own = await freePort();
  const [program, ...args] = PROXIES[name]!({ own, parley });
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child: ChildProcess = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (said += String(chunk)));
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const ended = once(child, 'exit');
  closing.push(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const url = `http://127.0.0.1:${own}`;
  const ready = until(`${name} to pass requests on`, async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    return answer?.status === 200;
  });
  await Promise.race([ready, failed]);
  return url;
}

describe.each(Object.keys(PROXIES))('behind %s', (name) => {
  test('a client calls, gets progress while the call runs, and sends messages of 1.5 MB', async () => {
    const { port, gate } = await startGateway();
    const url = await startProxy(name, port);
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const client = await connect(`${url}/mcp`, { log, revision });
      const heard: unknown[] = [];
      const result = client.callTool('slow', {}, { onProgress: (progress) => heard.push(progress) });
      await until('progress through the proxy', () => heard.length > 0);
      gate.open();
      expect(await within('the result', result)).toMatchObject({ content: [{ text: 'done' }] });
      const large = await client.callTool('size', { text: 'x'.repeat(1_500_000) });
      expect(large).toMatchObject({ content: [{ text: '1500000' }] });
      await client.close();
    }
  });

  test('a body that Parley takes nowhere is refused by the proxy', async () => {
    const { port } = await startGateway();
    const url = await startProxy(name, port);
    const answer = fetch(`${url}/mcp`, {
      method: 'POST',
      body: Buffer.alloc(20_000_000),
      headers: { 'content-type': 'application/json' },
    });
    // A proxy may hang up while the body is still being sent.
    const status = await answer.then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
  });
});
