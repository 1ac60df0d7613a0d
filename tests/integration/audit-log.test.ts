// The audit log of real gateways: what `serve` and `wrap` record, what `parley logs` and `parley audit` make of it, and what a killed process leaves.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/sdk/client/connect.ts';
import { randomId } from '../../src/kernel/crypto/ids.ts';
import { callModern } from '../helpers/mcp-http.ts';
import type { Home } from '../helpers/parley.ts';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const FILE = 'config/parley/parley.config.json';

/** In the user's own configuration folder. */
function configure(home: Home, more: object = {}): void {
  mkdirSync(join(home.path, 'config', 'parley'), { recursive: true });
  home.write(FILE, { mcpServers: { weather: WEATHER }, ...more });
}

async function logsOf(home: Home, ...args: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await home.run(['logs', '--json', '--since', '1h', ...args]);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function callOnce(home: Home, args: Record<string, unknown>): Promise<void> {
  await using client = await connect(home.address(['serve', '--stdio']));
  const tools = await client.listTools();
  await client.callTool(tools[0]!.name, args).catch(() => {});
}

test('serve records calls by default, with shapes; logs shows them, verify proves them, export hands them on', async () => {
  const home = newHome();
  configure(home);
  await callOnce(home, { city: 'Secret City' });
  const [call] = await logsOf(home);
  expect(call).toMatchObject({ kind: 'call', server: 'weather', method: 'tools/call', ms: expect.any(Number) });
  expect(JSON.stringify(call)).not.toContain('Secret City');
  expect(JSON.stringify(call)).toContain('"city":"string(11)"');

  const shown = await home.run(['logs']);
  expect(shown.stdout).toMatch(/^TIME +WHO +SERVER +WHAT +OUTCOME +MS +MORE\n.*weather.*\(city\)/);
  expect((await home.run(['logs', '--server', 'other'])).stderr).toContain('Nothing like that is recorded');
  const verified = await home.run(['audit', 'verify']);
  expect(verified).toMatchObject({ status: 0, stdout: expect.stringContaining('complete and unchanged') });
  const head = /head: (\S+)/.exec(verified.stdout)![1]!;
  const key = (await home.run(['audit', 'key'])).stdout.trim();
  expect(await home.run(['audit', 'verify', '--head', head, '--key', key])).toMatchObject({ status: 0 });
  expect(await home.run(['audit', 'verify', '--head', (randomId() + randomId()).slice(0, 43)])).toMatchObject({
    status: 1,
  });
  const exported = await home.run(['audit', 'export', '--format', 'ocsf']);
  expect(JSON.parse(exported.stdout.split('\n')[0]!)).toMatchObject({ class_uid: 6003 });
});

test('values are recorded where the configuration says so, without secrets; nothing where it says so', async () => {
  const home = newHome();
  configure(home, { audit: { arguments: 'values' } });
  await callOnce(home, { city: 'Oslo', password: 'hunter2hunter2' });
  const [call] = await logsOf(home);
  expect(JSON.stringify(call)).toContain('"city":"Oslo"');
  expect(JSON.stringify(call)).not.toContain('hunter2');

  const quiet = newHome();
  configure(quiet, { audit: false });
  await callOnce(quiet, { city: 'Oslo' });
  expect(readdirSync(join(quiet.path, 'state', 'parley'))).not.toContain('audit');
});

test('serve sends the heads of the log to a file beside its configuration, and verify finds a log that was written again', async () => {
  const home = newHome();
  configure(home, { audit: { heads: 'heads.jsonl' } });
  await callOnce(home, { city: 'Oslo' });
  const heads = join(home.path, 'config', 'parley', 'heads.jsonl');
  expect(await home.run(['audit', 'verify', '--heads', heads])).toMatchObject({ status: 0 });
  const audit = join(home.path, 'state', 'parley', 'audit');
  for (const name of readdirSync(audit)) if (name.endsWith('.jsonl')) rmSync(join(audit, name));
  configure(home, {}); // as a program that writes the log again would, with the key of its user
  await callOnce(home, { city: 'Bergen' });
  expect(await home.run(['audit', 'verify'])).toMatchObject({ status: 0 });
  expect(await home.run(['audit', 'verify', '--heads', heads])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('is missing, which a head of'),
  });
  expect(await home.run(['audit', 'verify', '--heads', join(home.path, 'none')])).toMatchObject({ status: 2 });
});

test('wrap records, unless it is told not to', async () => {
  const home = newHome();
  for (const options of [[], ['--no-audit']]) {
    await using client = await connect(home.address(['wrap', ...options, '--', WEATHER.command, ...WEATHER.args]));
    const tools = await client.listTools();
    await client.callTool(tools[0]!.name, { city: 'Oslo' }).catch(() => {});
  }
  expect(await logsOf(home)).toMatchObject([{ kind: 'call', method: 'tools/call', outcome: expect.any(String) }]);
});

test('callers that are turned away are recorded: no login, a foreign Host, a WebSocket', async () => {
  const home = newHome();
  configure(home, { auth: { keys: [{ name: 'laptop', key: 'a-key-of-a-laptop-0123456789' }] } });
  const gateway = start(home, ['serve', '--port', '0']);
  const url = await gateway.url();
  await fetch(`${url}?token=secret-in-a-query`, {
    method: 'POST',
    headers: { authorization: 'Bearer wrong-and-secret' },
  });
  await fetch(url, { headers: { origin: 'https://evil.example' } });
  const lines = await until('two refusals', async () => {
    const found = await logsOf(home, '--errors');
    return found.length >= 2 ? found : undefined;
  });
  expect(lines).toMatchObject([
    { kind: 'refusal', outcome: 'UNAUTHORIZED', name: '/mcp', details: { status: 401, from: '127.0.0.1' } },
    { kind: 'refusal', outcome: 'NOT_ALLOWED', details: { status: 403, origin: 'https://evil.example' } },
  ]);
  expect(JSON.stringify(lines)).not.toContain('secret');
  await fetch(url, { method: 'POST' }); // what comes after the first lines is as prompt
  await until('a third refusal', async () => (await logsOf(home, '--errors')).length >= 3);
});

test('logs -f shows what comes in, and cleans what could fool a terminal', async () => {
  const home = newHome();
  configure(home);
  const following = start(home, ['logs', '-f']);
  await following.says('Nothing is recorded yet');
  const evil = 'weather\u001B]52;c;aGk=\u0007\u202E\n2026-01-01 ok';
  await using client = await connect(home.address(['serve', '--stdio']));
  await client.callTool(evil).catch(() => {});
  await client.callTool('x'.repeat(100_000)).catch(() => {});
  await following.says('xxxxx');
  expect(following.stdout).toContain('\\u001b]52');
  // eslint-disable-next-line no-control-regex -- these must not be there
  expect(following.stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
  expect(following.stdout.split('\n').every((line) => line.length < 400)).toBe(true);
  expect(await following.stop()).toBe(0);
});

test('processes that are killed while they record, several at once, leave a log that can be verified', async () => {
  const home = newHome();
  configure(home);
  const rounds = Number(process.env['PARLEY_KILLS'] ?? 2);
  for (let round = 0; round < rounds; round++) {
    const gateways = [start(home, ['serve', '--open', '--port', '0']), start(home, ['serve', '--open', '--port', '0'])];
    const clients = await Promise.all(gateways.map(async (one) => connect(await one.url())));
    const calls = clients.map(async (client) => {
      for (let i = 0; i < 1500; i++) await client.callTool(`unknown${i}`).catch(() => {});
    });
    const chains = (round + 1) * 2;
    await until('lines of each process', async () => (await verify(home)).chains === chains || undefined);
    for (const gateway of gateways) await gateway.stop('SIGKILL');
    await Promise.all(calls);
    await Promise.all(clients.map((client) => client.close().catch(() => {})));
    const report = await verify(home);
    expect(report).toMatchObject({ problems: [], chains });
    expect(report.notes.join()).toContain('was killed');
  }
}, 120_000);

test('a disk that takes nothing is logged once, and the gateway continues', async () => {
  const home = newHome();
  configure(home);
  mkdirSync(join(home.path, 'state', 'parley'), { recursive: true });
  writeFileSync(join(home.path, 'state', 'parley', 'audit'), 'not a folder');
  const gateway = start(home, ['serve', '--open', '--port', '0']);
  await using client = await connect(await gateway.url());
  for (let i = 0; i < 600; i++) await client.callTool('unknown').catch(() => {});
  const tools = await client.listTools();
  expect(tools.length).toBeGreaterThan(0);
  await until('the failure in the log', () => gateway.logged('audit.failed').length > 0 || undefined);
  expect(gateway.logged('audit.failed')).toHaveLength(1);
});

async function verify(
  home: ReturnType<typeof newHome>,
): Promise<{ problems: string[]; notes: string[]; chains: number }> {
  const verified = await home.run(['audit', 'verify', '--json']);
  return JSON.parse(verified.stdout) as { problems: string[]; notes: string[]; chains: number };
}

test('a call that was running when its gateway was killed is in the log', async () => {
  const home = newHome();
  const script = home.write(
    'slow.cjs',
    `const reply = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') reply(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } });
  else if (method === 'tools/list') reply(id, { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] });
  else if (method !== 'tools/call' && id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }) + '\\n');
});`,
  );
  configure(home, { mcpServers: { slow: { command: process.execPath, args: [script] } } });
  const gateway = start(home, ['serve', '--port', '0', '--open']);
  const url = await gateway.url();
  const lost = callModern(url, 'slow__wait').catch(() => undefined);
  await until('a line of the call', async () => (await logsOf(home)).some(({ outcome }) => outcome === 'running'));
  await gateway.stop('SIGKILL');
  await lost;
  expect(await logsOf(home)).toMatchObject([{ kind: 'call', server: 'slow', name: 'wait', outcome: 'running' }]);
  expect(await logsOf(home, '--errors')).toEqual([]);
});

test('calls that a step refuses are found by their server and its own name of the tool, through call_tool as well', async () => {
  const home = newHome();
  const weather = { ...WEATHER, tools: { deny: ['get_*'] } };
  const steps = [
    { discover: { mode: 'search' } },
    { filter: { deny: ['other__*'] } },
    { rename: { tools: { third__get_weather: 'ask_weather' } } },
  ];
  configure(home, { mcpServers: { weather, other: WEATHER, third: WEATHER }, steps });
  const client = await connect(home.address(['serve', '--stdio']));
  const call = async (name: string, args: Record<string, unknown>): Promise<boolean> =>
    client.callTool(name, args).then(
      ({ isError }) => isError !== true,
      () => false,
    );
  const given = { location: 'Oslo' };
  expect(await call('weather__get_weather', given)).toBe(false);
  expect(await call('call_tool', { name: 'other__get_weather', arguments: given })).toBe(false);
  expect(await call('call_tool', { name: 'ask_weather', arguments: given })).toBe(true);
  await client.close();

  const shapes = { location: 'string(4)' };
  expect(await logsOf(home, '--server', 'weather', '--tool', 'get_weather', '--errors')).toMatchObject([
    { outcome: 'TOOL_NOT_FOUND', details: { as: 'weather__get_weather', arguments: shapes } },
  ]);
  expect(await logsOf(home, '--server', 'other')).toMatchObject([
    { name: 'get_weather', details: { as: 'other__get_weather', through: 'call_tool', arguments: shapes } },
  ]);
  expect(await logsOf(home, '--tool', 'ask_weather')).toMatchObject([
    { server: 'third', name: 'get_weather', outcome: 'ok', details: { as: 'ask_weather', arguments: shapes } },
  ]);
});
