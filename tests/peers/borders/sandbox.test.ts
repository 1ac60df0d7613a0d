// Real servers in real sandboxes: Anthropic's sandbox-runtime (srt), and bubblewrap alone. What is not allowed fails inside, and the status says what holds.
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { callModern } from '../../helpers/mcp-http.ts';
import { homesOfTests } from '../../helpers/parley.ts';
import type { Home } from '../../helpers/parley.ts';
import { findOnPath } from '../../../src/mcp/connect/links/find-on-path.ts';
import { hasTool } from '../../helpers/tools.ts';
import { until } from '../../helpers/until.ts';

const { newHome, start } = homesOfTests();
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const FILES = path('../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
const SRT = path('../node_modules/.bin/srt');

/** A server of the official SDK that tells what it can do. */
const PROBE = `
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { McpServer } from '${path('../node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.js')}';
import { StdioServerTransport } from '${path('../node_modules/@modelcontextprotocol/sdk/dist/esm/server/stdio.js')}';
import { execFileSync } from 'node:child_process';
const server = new McpServer({ name: 'probe', version: '1' });
const tool = (name, work) => server.registerTool(name, {}, async () => ({ content: [{ type: 'text', text: String(await work().catch((error) => 'failed: ' + (error.cause?.code ?? error.code ?? error))) }] }));
tool('fetch', async () => (await fetch(process.argv[2])).status);
tool('curl', async () => execFileSync('curl', ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--noproxy', '', process.argv[2]], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
tool('state', async () => readdirSync(process.env.STATE).join());
tool('processes', async () => readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length);
tool('variables', async () => Object.keys(process.env).sort().join());
tool('capabilities', async () => /CapEff:\\s*(\\w+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
const run = (command, ...args) => { try { execFileSync(command, args, { stdio: 'ignore' }); return 'done'; } catch { return 'failed'; } };
tool('mounts', async () => [run('mount', '-o', 'remount,bind,rw', '/'), run('umount', '-l', process.env.STATE)].join());
tool('temporary', async () => { const { writeFile } = await import('node:fs/promises'); await writeFile((process.env.TMPDIR ?? '/tmp') + '/x', 'x'); return 'written'; });
await server.connect(new StdioServerTransport());
`;

/** A folder of commands: the machine as if only these were installed. */
function only(home: Home, ...commands: string[]): { PATH: string } {
  const folder = join(home.path, `bin-${commands.length}`);
  mkdirSync(folder);
  for (const command of commands) symlinkSync(command === 'srt' ? SRT : findOnPath(command)!, join(folder, command));
  return { PATH: folder };
}

const COMMON = ['node', 'bash', 'mount', 'umount', 'sh', 'cat', 'curl', 'env', 'true', 'which'];

async function serve(home: Home, servers: object, env: Record<string, string>) {
  home.write('parley.config.json', { mcpServers: servers });
  const gateway = start(home, ['serve', '--port', '0', '--open'], env);
  const url = await gateway.url();
  const call = async (name: string, args = {}): Promise<{ text: string; isError: boolean }> => {
    const { json } = await callModern(url, name, args);
    const text = json.result?.content?.[0]?.text ?? json.error?.message ?? '';
    return { text, isError: json.error !== undefined || json.result?.['isError'] === true };
  };
  const status = async (name: string) => {
    const { servers: all } = (await (await fetch(url.replace(/mcp$/, 'status'))).json()) as { servers: Status[] };
    return all.find((one) => one.name === name)!;
  };
  return { call, status, gateway };
}

interface Status {
  name: string;
  failure: string | null;
  sandbox?: { kind: string; holds?: string };
}

let web: ReturnType<typeof createServer> | undefined;
afterEach(() => web?.close());

async function startWeb(): Promise<string> {
  web = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1');
  await once(web, 'listening');
  return `http://127.0.0.1:${(web.address() as { port: number }).port}/`;
}

describe.skipIf(!hasTool('bwrap', 'bubblewrap')).each([
  ['sandbox-runtime', [...COMMON, 'bwrap', 'socat', 'rg', 'srt']],
  ['bubblewrap', [...COMMON, 'bwrap']],
])('a server in %s', (kind, commands) => {
  test('writes where it may, and nowhere else', async () => {
    const home = newHome();
    const [inside, outside] = [join(home.path, 'inside'), join(home.path, 'outside')];
    for (const folder of [inside, outside]) mkdirSync(folder);
    writeFileSync(join(outside, 'readable'), 'can be read');
    const files = { command: process.execPath, args: [FILES, inside, outside], sandbox: { write: ['inside'] } };
    const { call, status, gateway } = await serve(home, { files }, only(home, ...commands));
    const write = (folder: string) => call('files__write_file', { path: join(folder, 'new.txt'), content: 'hello' });
    expect(await write(inside)).toMatchObject({ isError: false });
    expect(readFileSync(join(inside, 'new.txt'), 'utf8')).toBe('hello');
    expect(await write(outside)).toMatchObject({ isError: true, text: expect.stringMatching(/EROFS|read-only/i) });
    expect(existsSync(join(outside, 'new.txt'))).toBe(false);
    expect(await call('files__read_text_file', { path: join(outside, 'readable') })).toMatchObject({
      text: 'can be read',
    });
    expect((await status('files')).sandbox).toEqual({ kind, holds: `it can change ${inside}; no network` });
    const shown = await home.run(['status']);
    expect(shown.stdout).toContain(`sandbox: ${kind}; it can change`);
    expect(await gateway.stop()).toBe(0);
  });

  test('has no network, sees no other processes and not what Parley keeps, and has a temporary folder and few variables', async () => {
    const home = newHome();
    const script = home.write('probe.mjs', PROBE);
    const env = { STATE: join(home.path, 'state', 'parley'), OWN: 'x' };
    const probe = { command: process.execPath, args: [script, await startWeb(), FILES], env, sandbox: true };
    const free = { ...probe, sandbox: undefined };
    const { call } = await serve(home, { probe, free }, { ...only(home, ...commands), SECRET_OF_GATEWAY: 'x' });
    expect(await call('free__fetch')).toMatchObject({ text: '200' });
    expect((await call('free__state')).text).not.toMatch(/failed|^$/);
    expect(await call('probe__fetch')).toMatchObject({ text: expect.stringContaining('failed') });
    expect((await call('probe__state')).text).toMatch(/^$|failed/);
    expect(Number((await call('probe__processes')).text)).toBeLessThan(12);
    expect(await call('probe__temporary')).toMatchObject({ text: 'written' });
    const variables = (await call('free__variables')).text.split(',').filter((name) => name !== 'PARLEY_VIA');
    expect(variables).toEqual(['HOME', 'OWN', 'PATH', 'STATE']);
    expect((await call('probe__variables')).text).not.toContain('SECRET_OF_GATEWAY');
  });

  test('has no capabilities, and can neither mount nor unmount, also if the gateway runs as root', async () => {
    const home = newHome();
    const script = home.write('probe.mjs', PROBE);
    const env = { STATE: join(home.path, 'state', 'parley') };
    const probe = { command: process.execPath, args: [script, 'x', FILES], env, sandbox: true };
    const { call } = await serve(home, { probe }, only(home, ...commands));
    expect(Number.parseInt((await call('probe__capabilities')).text, 16)).toBe(0);
    expect(await call('probe__mounts')).toMatchObject({ text: 'failed,failed' });
    expect((await call('probe__state')).text).toMatch(/^$|failed/);
  });

  test('reaches the hosts that are named, or the status says that it reaches all', async () => {
    const home = newHome();
    const script = home.write('probe.mjs', PROBE);
    const url = await startWeb();
    const { host } = new URL(url);
    const of = (hosts: string[]) => ({ command: process.execPath, args: [script, url, FILES], sandbox: { hosts } });
    const servers = { near: of([host]), far: of(['other.example']) };
    const { call, status } = await serve(home, servers, only(home, ...commands));
    expect(await call('near__curl')).toMatchObject({ text: '200' });
    const holds = (await status('far')).sandbox!.holds!;
    if (kind === 'sandbox-runtime') {
      expect(await call('far__curl')).not.toMatchObject({ text: '200' });
      expect(holds).toContain('it can reach other.example');
    } else {
      expect(await call('far__curl')).toMatchObject({ text: '200' });
      expect(holds).toContain('it can reach all hosts: bubblewrap cannot tell them apart');
    }
  });

  test('ends with the gateway', async () => {
    const home = newHome();
    const script = home.write('probe.mjs', PROBE);
    const probe = { command: process.execPath, args: [script, 'mark-of-this-test', FILES], sandbox: true };
    const { call, gateway } = await serve(home, { probe }, only(home, ...commands));
    await call('probe__temporary');
    await gateway.stop('SIGKILL');
    await until('the end of the server', () => !running().includes('mark-of-this-test'));
  });
});

function running(): string {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

test('where there is no sandbox, a server does not start, unless its sandbox is optional; the status says both', async () => {
  const home = newHome();
  const script = home.write('probe.mjs', PROBE);
  const strict = { command: process.execPath, args: [script, 'x'], sandbox: true };
  const servers = { strict, optional: { ...strict, sandbox: { optional: true } } };
  const { call, status, gateway } = await serve(home, servers, only(home, ...COMMON));
  const refused = await call('strict__temporary');
  expect(refused.text).toMatch(
    /strict.* was not started: its sandbox needs @anthropic-ai\/sandbox-runtime or bubblewrap/,
  );
  expect((await status('strict')).sandbox).toMatchObject({
    kind: 'none',
    holds: expect.stringContaining('it does not start'),
  });
  expect(await call('optional__temporary')).toMatchObject({ text: 'written' });
  expect((await status('optional')).sandbox).toMatchObject({
    kind: 'none',
    holds: expect.stringContaining('it can do everything'),
  });
  expect(gateway.stderr).toContain('upstream.sandbox');
});
