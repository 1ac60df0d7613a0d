// `npm run bench -- flows [--quick|--short] [--only name] [--write]`: what a turn of a flow costs in each store, and beside it the same flow in
// DBOS and in Restate; what a waiting session takes, how long a token is, and what a replay costs.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endServers } from './flows/servers.mjs';
import { replayCost, sessionBytes, tokenSizes } from './flows/sizes.mjs';
import { measureWays, openWays } from './flows/ways.mjs';
import { installPeers } from './install.mjs';
import { renewResults } from './report/results-page.mjs';
import { machine } from './report/summary.mjs';

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
if (!globalThis.gc) {
  const again = [...process.execArgv, '--expose-gc', fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.exit(spawnSync(process.execPath, again, { stdio: 'inherit' }).status ?? 1);
}
const PLANS = {
  quick: { inFlights: [16, 1], rounds: 2, ms: 200, warm: { turns: 400, ms: 500 }, sessions: 2000 },
  short: { inFlights: [64, 1], rounds: 4, ms: 250, warm: { turns: 4000, ms: 1500 }, sessions: 5000 },
  whole: { inFlights: [64, 1], rounds: 10, ms: 400, warm: { turns: 12_000, ms: 3000 }, sessions: 20_000 },
};
const plan = PLANS[options.quick ? 'quick' : options.short ? 'short' : 'whole'];
/** A store outside of this process needs fewer: nothing of the process itself is in their size. */
const SESSIONS_OUTSIDE = 2000;
const LENGTHS = [0, 10, 50, 100, 500];

installPeers();
// On the disk of the folder for temporary files, which TMPDIR changes. PostgreSQL's own user must be able to enter.
const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
chmodSync(folder, 0o755);
process.env.BENCH_FOLDER = folder;
const text = [heading(), turnTable(await turns())];
if (options.only === undefined)
  text.push(sizeTable(await sizes()), tokenTable(await tokenSizes()), await replayTable());
console.log(`\n${text.join('\n\n')}`);
if (options.write && options.only === undefined) renewResults('flows', text.join('\n\n'));
await endServers();
rmSync(folder, { recursive: true, maxRetries: 5 });
process.exit();

async function turns() {
  const { ways, close } = await openWays({ only: options.only, folder });
  console.log(`Measuring ${ways.length} ways in ${plan.rounds} rounds …`);
  const measured = await measureWays(ways, plan);
  await close();
  return measured;
}

async function sizes() {
  const bytes = [
    ['memory', await sessionBytes('memory', plan.sessions)],
    ['memory, and its body waits', await sessionBytes('memory', plan.sessions, { warm: plan.sessions })],
    ['SQLite', await sessionBytes('sqlite', SESSIONS_OUTSIDE)],
  ];
  if (spawnSync('redis-server', ['--version']).error) return bytes;
  return [...bytes, ['Redis', await sessionBytes('redis', SESSIONS_OUTSIDE)]];
}

function heading() {
  const { cpu, cores, node, date, commit } = machine();
  const { rounds, ms } = plan;
  return `Commit ${commit}. ${cpu}, ${cores} cores, Node ${node}, ${date}; ${rounds} rounds of ${ms / 1000} s each, in turns, after a warm-up.`;
}

function turnTable(measured) {
  const lines = measured.map(({ name, inFlight, app, server, total, middle, rate, p50, p99 }) => [
    name,
    inFlight,
    rounded(total),
    rounded(app),
    server === undefined ? '–' : rounded(server),
    rounded(middle),
    rounded(rate),
    p50.toFixed(2),
    p99.toFixed(2),
  ]);
  const head = ['engine', 'in flight', '**CPU µs per turn**', 'of the process', 'of the server beside it'];
  return table([...head, 'median', 'turns/s', 'p50 ms', 'p99 ms'], lines);
}

function sizeTable(found) {
  const head = ['a waiting session, four answers and a step', 'bytes', 'per GB'];
  return table(
    head,
    found.map(([name, bytes]) => [name, rounded(bytes), rounded(1e9 / bytes)]),
  );
}

function tokenTable({ none, six, fifty }) {
  return table(
    ['token', 'bytes', 'characters'],
    [
      ['before the first answer', none.bytes, none.characters],
      ['after six short answers', six.bytes, six.characters],
      ['per short answer', rounded((six.bytes - none.bytes) / 6), '–'],
      ['after 50 answers of 20 characters', fifty.bytes, fifty.characters],
    ],
  );
}

async function replayTable() {
  const costs = [];
  for (const length of LENGTHS) costs.push((await replayCost(length)).toFixed(3));
  return table(['answers in the journal', ...LENGTHS], [['CPU ms of a cold replay', ...costs]]);
}

function rounded(number) {
  return Math.round(number).toLocaleString('en');
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
