// `npm run bench -- flow-stores [--quick] [--write]`: what a turn of a flow costs in each store, what a waiting session takes, how
// long a token is, and what a replay costs.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { STORES } from './flows/subjects.mjs';
import { measure, throughStore, throughTokens } from './flows/measure.mjs';
import { replayCost, sessionBytes, tokenSizes } from './flows/sizes.mjs';
import { renewResults } from './report/results-page.mjs';
import { machine } from './report/summary.mjs';

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
});
if (!globalThis.gc) {
  const again = [...process.execArgv, '--expose-gc', fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.exit(spawnSync(process.execPath, again, { stdio: 'inherit' }).status ?? 1);
}
/** A store outside of this process needs fewer sessions: nothing of the process itself is in their size. */
const plan = options.quick ? { turns: 3000, sessions: 2000 } : { turns: 12_000, sessions: 20_000 };
const SESSIONS_OUTSIDE = 2000;
const LENGTHS = [0, 10, 50, 100, 500];

const turns = [];
const sizes = [];
const WAYS = [
  ...Object.entries(STORES),
  ['memory, replayed', STORES.memory, 0],
  ['sqlite, replayed', STORES.sqlite, 0],
];
for (const [name, open, warm] of WAYS) {
  for (const inFlight of [64, 1]) {
    const subject = await open();
    if (!subject) continue;
    const way = throughStore(subject.store, { warm });
    turns.push({
      name,
      inFlight,
      ...(await measure(way, { inFlight, turns: inFlight === 1 ? plan.turns / 4 : plan.turns, pid: subject.pid })),
    });
    console.log(turnLine(turns.at(-1)));
    await way.close();
    await subject.end();
  }
  if (name.includes('always') || name.includes('encrypted') || warm === 0) continue;
  await size(name.split(',')[0], open);
  if (name === 'memory') await size('memory, and its body waits', open, { warm: plan.sessions });
}

async function size(name, open, options) {
  const subject = await open();
  if (!subject) return;
  const count = name.startsWith('memory') ? plan.sessions : SESSIONS_OUTSIDE;
  sizes.push({ name, bytes: await sessionBytes(subject, count, options) });
  await subject.end();
}
for (const inFlight of [64, 1]) {
  const way = throughTokens();
  turns.push({
    name: 'token',
    inFlight,
    ...(await measure(way, { inFlight, turns: inFlight === 1 ? plan.turns / 4 : plan.turns })),
  });
  console.log(turnLine(turns.at(-1)));
  await way.close();
}
const tokens = await tokenSizes();
const replays = [];
for (const length of LENGTHS) replays.push({ length, ms: await replayCost(length) });
const text = page();
console.log(`\n${text}`);
if (options.write) renewResults('flow-stores', text);
process.exit();

function page() {
  const { cpu, cores, node, date } = machine();
  return [
    `${cpu}, ${cores} cores, Node ${node}, ${date}; ${plan.turns} turns each in five rounds, after half as many to warm up.`,
    table(
      ['store', 'in flight', 'turns/s', 'CPU µs per turn', 'median', 'of Redis', 'p50 ms', 'p99 ms'],
      turns.map((one) => [one.name, one.inFlight, ...cells(one)]),
    ),
    table(
      ['a waiting session, four answers and a step', 'bytes', 'per GB'],
      sizes.map(({ name, bytes }) => [name, rounded(bytes), rounded(1e9 / bytes)]),
    ),
    table(
      ['token', 'bytes', 'characters'],
      [
        ['before the first answer', tokens.none.bytes, tokens.none.characters],
        ['after six short answers', tokens.six.bytes, tokens.six.characters],
        ['per short answer', rounded((tokens.six.bytes - tokens.none.bytes) / 6), '–'],
        ['after 50 answers of 20 characters', tokens.fifty.bytes, tokens.fifty.characters],
      ],
    ),
    table(
      ['answers in the journal', ...LENGTHS],
      [['CPU ms of a cold replay', ...replays.map(({ ms }) => ms.toFixed(3))]],
    ),
  ].join('\n\n');
}

function cells({ turns: rate, cpu, medianCpu, server, p50, p99 }) {
  const ofServer = server === undefined ? '–' : rounded(server);
  return [rounded(rate), rounded(cpu), rounded(medianCpu), ofServer, p50.toFixed(2), p99.toFixed(2)];
}

function turnLine(one) {
  return [one.name.padEnd(26), String(one.inFlight).padEnd(4), ...cells(one).map((cell) => cell.padEnd(9))].join('');
}

function rounded(number) {
  return Math.round(number).toLocaleString('en');
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
