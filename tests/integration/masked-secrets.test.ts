// Secrets of the configuration, told by servers that know them: on stderr, in errors, encoded, in the addresses of servers. None may reach a client, the log,
// the status, the metrics, the audit log or the output of a command. Results pass unchanged.
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callModern } from '../helpers/mcp-http.ts';
import type { Home } from '../helpers/parley.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const FILE = 'config/parley/parley.config.json';

const SECRETS = {
  variable: 'V4r-of-the-environment',
  file: 'f!le secret/with "odd" signs',
  command: 'c0mmand-output-99',
  env: 'plain-env-value-77',
  pin: '73x91',
  /** Under a name that says nothing. */
  seven: 'k7v2q9x',
  /** Which the server made itself. */
  bearer: 'tok-of-the-server-0815',
  opaque: 'abcdefghijklm',
  argument: 'argument-s3cret-55',
  header: 'header-s3cret-44',
  password: 'url-p4ssword',
  query: 'query-s3cret-33',
  path: 'pX7yTq2LmN8',
};

/** As somebody may write them. */
function spellings(value: string): string[] {
  const bytes = Buffer.from(value);
  const within = Buffer.from(`user:${value}`);
  const encoded = [bytes, within].flatMap((one) => [one.toString('base64'), one.toString('base64url')]);
  const core = encoded.map((text) => text.replace(/=+$/, '').slice(8, -2)); // the ends depend on the neighbours
  return [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), ...core];
}

function leaksIn(text: string): string[] {
  const long = Object.entries(SECRETS).filter(([name]) => name !== 'pin');
  const found = long.filter(([, value]) => spellings(value).some((one) => one.length > 5 && text.includes(one)));
  return [...found.map(([name]) => name), ...(/(?<!\w)73x91(?!\w)/.test(text) ? ['pin'] : [])];
}

/** It says all it knows: as a result, as an error, and on stderr when it dies. */
const LEAKY = `
const known = [...process.argv.slice(2), ...Object.values(process.env)].filter((text) => !text.startsWith('/'));
const all = known.flatMap((text) => [text, encodeURIComponent(text), btoa(text), btoa('user:' + text), JSON.stringify(text)]).join(' , ')
  + ' Authorization: Bearer ${SECRETS.bearer} , {"authorization":"Basic ${SECRETS.opaque}"}';
const reply = (id, more) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...more }) + '\\n');
const inputSchema = { type: 'object' };
const tools = ['tell', 'fail', 'die'].map((name) => ({ name, inputSchema }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') return reply(id, { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'leaky', version: '1' } } });
  if (method === 'tools/list') return reply(id, { result: { tools } });
  if (params?.name === 'tell') return reply(id, { result: { content: [{ type: 'text', text: all }] } });
  if (params?.name === 'fail') return reply(id, { error: { code: -32050, message: 'it failed with ' + all, data: { given: [all] } } });
  if (params?.name === 'die') process.stderr.write('dying with ' + all + '\\n', () => process.exit(3));
  else if (id !== undefined) reply(id, { error: { code: -32601, message: 'Method not found' } });
});
`;

let echo: Server | undefined;
afterEach(() => echo?.close());

/** An HTTP server that refuses, and quotes the request. */
async function startEcho(): Promise<number> {
  echo = createServer((request, response) => {
    const message = `no: ${request.url} ${JSON.stringify(request.headers)}`;
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } }));
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  return (echo.address() as { port: number }).port;
}

async function configure(home: Home): Promise<void> {
  mkdirSync(join(home.path, 'config', 'parley'), { recursive: true });
  home.write('secret.txt', `${SECRETS.file}\n`);
  const script = home.write('leaky.cjs', LEAKY);
  const there = `127.0.0.1:${await startEcho()}`;
  const env = {
    ONE: '${SECRET_OF_TEST}',
    TWO: '${file:~/secret.txt}',
    THREE: `\${cmd:cat ${home.write('command.txt', SECRETS.command)}}`,
    FOUR: SECRETS.env,
    DOOR_PIN: SECRETS.pin,
    FIVE: SECRETS.seven,
  };
  home.write(FILE, {
    log: { level: 'debug' },
    mcpServers: {
      leaky: { command: process.execPath, args: [script, '--api-key', SECRETS.argument], env },
      hosted: {
        url: `http://me:${SECRETS.password}@${there}/s/${SECRETS.path}/mcp?key=${SECRETS.query}`,
        headers: { 'X-Api-Key': SECRETS.header },
      },
      away: { url: `http://127.0.0.1:9/u/${SECRETS.path}/mcp?token=${SECRETS.query}` },
    },
  });
}

const ENV = { SECRET_OF_TEST: SECRETS.variable };

test('secrets of the configuration reach no client, log, status, metrics, audit log or command, however they are written', async () => {
  const home = newHome();
  await configure(home);
  const gateway = start(home, ['serve', '--port', '0', '--open'], ENV);
  const url = await gateway.url();
  const at = (path: string) => url.replace(/\/mcp$/, path);
  const told: Record<string, string> = {};
  for (const name of ['leaky__fail', 'leaky__die', 'hosted__any', 'away__any']) {
    const { json } = await callModern(url, name);
    expect(json.error ?? json.result?.isError, name).toBeTruthy();
    told[name] = JSON.stringify(json);
  }
  expect(told['leaky__fail']).toContain('it failed with');
  expect(told['leaky__die']).toContain('dying with');
  await until('the stderr of the server in the log', () => gateway.stderr.includes('dying with'));
  told['status'] = await (await fetch(at('/status'))).text();
  told['metrics'] = await (await fetch(at('/metrics'))).text();
  told['parley status'] = (await home.run(['status'], '', ENV)).stdout;
  told['parley ls'] = toText(await home.run(['ls'], '', ENV));
  told['log'] = gateway.stderr;
  await gateway.stop();
  told['parley ls without the gateway'] = toText(await home.run(['ls', '--config', join(home.path, FILE)], '', ENV));
  told['parley check'] = toText(await home.run(['check', '--print', join(home.path, FILE)], '', ENV));
  const audit = join(home.path, 'state', 'parley', 'audit');
  told['audit'] = readdirSync(audit)
    .map((name) => readFileSync(join(audit, name), 'utf8'))
    .join('');
  expect(told['status']).toContain('"failing"');
  expect(told['audit']).toContain('leaky');
  const leaks = Object.entries(told).map(([where, text]) => [where, leaksIn(text)]);
  expect(Object.fromEntries(leaks)).toEqual(Object.fromEntries(Object.keys(told).map((where) => [where, []])));
});

test('a result is passed on unchanged, whatever it contains', async () => {
  const home = newHome();
  await configure(home);
  const url = await start(home, ['serve', '--port', '0', '--open'], ENV).url();
  const { json } = await callModern(url, 'leaky__tell');
  const { variable, file, command, env, pin, argument } = SECRETS;
  for (const value of [variable, file, command, env, pin, argument])
    expect(json.result?.content?.[0]?.text).toContain(value);
});

function toText({ stdout, stderr }: { stdout: string; stderr: string }): string {
  return stdout + stderr;
}
