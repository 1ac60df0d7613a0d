// How many people one process carries: clients of the official SDK that can be asked, before one `parley serve` with eight real servers on stdio. Each
// client connects, lists and calls a tool of every server; ten of them use a tool that asks. Then one call at a time is timed, and many at once.
//
//   node tests/peers/team/run.mjs [--clients 200] [--askers 10] [--write]
//
// --write puts the figures into docs/guides/team-url.md. Needs /proc, so Linux, and a build (node scripts/ready.mjs).
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installPeers } from '../harness/install.mjs';
import { renewBlock } from '../harness/page-block.mjs';

installPeers();
const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');

const { values: options } = parseArgs({
  options: {
    clients: { type: 'string', default: '200' },
    askers: { type: 'string', default: '10' },
    write: { type: 'boolean' },
  },
});
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const npm = (name) => ({
  command: process.execPath,
  args: [path(`../node_modules/@modelcontextprotocol/${name}/dist/index.js`), 'stdio'],
});
/** Two of each kind, as a team has servers of the same make for several places. */
const SERVERS = {
  everything: { ...npm('server-everything'), call: ['echo', { message: 'hello' }] },
  tools: { ...npm('server-everything'), call: ['echo', { message: 'hello' }] },
  memory: { ...npm('server-memory'), call: ['read_graph', {}] },
  notes: { ...npm('server-memory'), call: ['read_graph', {}] },
  thinking: { ...npm('server-sequential-thinking'), call: thought() },
  planning: { ...npm('server-sequential-thinking'), call: thought() },
  asks: { command: process.execPath, args: [path('../borders/servers/asks-v1.mjs')], call: ['pid', {}] },
  quiet: { command: process.execPath, args: [path('../borders/servers/asks-v1.mjs')], call: ['pid', {}] },
};
const COUNT = Number(options.clients);
const ASKERS = Number(options.askers);
const SINGLE_CALLS = 400;
const CALLS_AT_ONCE = 2000;
const AT_ONCE = 32;

const folder = mkdtempSync(join(tmpdir(), 'parley-team-'));
const gateway = await serve();
const figures = [];
try {
  figures.push(['with no client', measure()]);
  const clients = await inGroups(
    Array.from({ length: COUNT }, (_, index) => index),
    8,
    connect,
  );
  figures.push([`${COUNT} clients have connected, listed and called every server`, measure()]);
  const asking = clients.slice(0, ASKERS);
  for (const client of asking) for (let times = 0; times < 2; times++) await ask(client);
  figures.push([`${ASKERS} of them have used a tool that asks, twice`, measure()]);
  const single = await timed(clients, SINGLE_CALLS, 1);
  const many = await timed(clients, CALLS_AT_ONCE, AT_ONCE);
  figures.push([`after ${SINGLE_CALLS + CALLS_AT_ONCE} more calls`, measure()]);
  report(single, many);
  await Promise.all(clients.map(({ client }) => client.close()));
} finally {
  gateway.child.kill('SIGTERM');
  await new Promise((resolve) => gateway.child.once('exit', resolve));
  rmSync(folder, { recursive: true });
}

async function serve() {
  const config = join(folder, 'parley.config.json');
  const mcpServers = Object.fromEntries(
    Object.entries(SERVERS).map(([name, { command, args }]) => [
      name,
      { command, args, env: { MEMORY_FILE_PATH: join(folder, `${name}.jsonl`) } },
    ]),
  );
  writeFileSync(config, JSON.stringify({ mcpServers, listen: { port: 0, open: true } }));
  const env = {
    ...process.env,
    XDG_STATE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    PARLEY_TRUST: folder,
    PARLEY_BROWSER: 'none',
  };
  const child = spawn(process.execPath, [path('../../../dist/cli/main.js'), 'serve', config], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`parley serve ended with ${code}`)));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(line);
        if (found) resolve(found[0]);
      });
    }
  });
  return { child, url };
}

async function connect(index) {
  const client = new Client({ name: 'team', version: '1' }, { capabilities: { elicitation: {} } });
  const asked = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { city: `city-${index}` } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url)));
  await client.listTools();
  const one = { client, index, asked };
  for (const name of Object.keys(SERVERS)) await call(one, name);
  return one;
}

async function call({ client }, name) {
  const [tool, args] = SERVERS[name].call;
  const result = await client.callTool({ name: `${name}__${tool}`, arguments: args });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
}

/** The answer must be that of this client, at the latest when it calls again. */
async function ask({ client, index }) {
  const { content, isError } = await client.callTool({ name: 'asks__elicit', arguments: {} });
  if (!isError && content[0].text !== `city-${index}`) throw new Error(`Client ${index} got ${content[0].text}`);
}

/** Milliseconds of each call, in order of size; `atOnce` of them are under way at any time. */
async function timed(clients, count, atOnce) {
  const names = Object.keys(SERVERS);
  const times = [];
  const started = performance.now();
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < count; n = next++) {
      const from = performance.now();
      await call(clients[n % clients.length], names[Math.floor(n / clients.length) % names.length]);
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { times: times.toSorted((a, b) => a - b), perSecond: (count * 1000) / (performance.now() - started) };
}

async function inGroups(items, size, work) {
  const results = [];
  for (let at = 0; at < items.length; at += size)
    results.push(...(await Promise.all(items.slice(at, at + size).map(work))));
  return results;
}

/** Resident memory of the gateway and of its servers, in megabytes, and how many those are. */
function measure() {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '--ppid', String(gateway.child.pid)], { encoding: 'utf8' });
  const servers = stdout.trim().split('\n').map(Number);
  const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8'))[1]);
  return {
    gateway: own / 1024,
    servers: servers.reduce((sum, one) => sum + one, 0) / 1024,
    processes: servers.filter((one) => one > 0).length,
  };
}

function report(single, many) {
  const at = (times, share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1);
  const { stdout: commit } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
  const rows = figures.map(
    ([when, { gateway: own, servers, processes }]) =>
      `| ${when} | ${own.toFixed(0)} MB | ${processes} | ${servers.toFixed(0)} MB |`,
  );
  const calls = [
    ['one call at a time', single],
    [`${AT_ONCE} calls at once`, many],
  ].map(
    ([what, { times, perSecond }]) =>
      `| ${what} | ${at(times, 0.5)} ms | ${at(times, 0.99)} ms | ${perSecond.toFixed(0)} |`,
  );
  const lines = [
    `Measured at ${commit.trim()} with \`node tests/peers/team/run.mjs\`: ${COUNT} clients of SDK v1 that declare elicitation, ${Object.keys(SERVERS).length} servers on stdio, Node ${process.versions.node}, ${cpus().length} cores that clients and servers share.`,
    '',
    '| when | memory of Parley | processes of servers | their memory |',
    '|---|---:|---:|---:|',
    ...rows,
    '',
    '| a call, its client and its server included | median | 99 % | per second |',
    '|---|---:|---:|---:|',
    ...calls,
  ];
  console.log(lines.join('\n'));
  if (options.write) {
    renewBlock('guides/team-url.md', 'team', lines.join('\n'));
  }
}

function thought() {
  return ['sequentialthinking', { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }];
}
