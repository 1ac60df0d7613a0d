// `npm run bench -- wrap [--quick|--short] [--only …] [--who relay,parley …] [--size small|large] [--write]`: CPU of one call through `parley wrap`, as it comes, beside
// the bare relay, other gateways and, with PARLEY_BEFORE=FOLDER[:FOLDER…], other builds of Parley; all in turns.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startContender, whyNot } from './gateway/contender.mjs';
import { EARLIER, SERVER } from './gateway/contenders.mjs';
import { groups } from './gateway/groups.mjs';
import { warmUp } from './gateway/measure.mjs';
import { buildStamp, installPeers } from './install.mjs';
import { renewResults } from './report/results-page.mjs';
import { machine } from './report/summary.mjs';
import { RATIO, wrapLine, wrapTable } from './report/wrap-table.mjs';

/** `small` and `large`: rounds, and how long each turn of a contender takes, or how many calls. */
const PLANS = {
  full: {
    lives: 2,
    small: { rounds: 24, ms: 100 },
    large: { rounds: 8, calls: 12 },
    warmUpCalls: 12_000,
    warmUpMs: 3000,
  },
  short: {
    lives: 1,
    small: { rounds: 16, ms: 100 },
    large: { rounds: 6, calls: 10 },
    warmUpCalls: 8000,
    warmUpMs: 2500,
  },
  quick: {
    lives: 1,
    small: { rounds: 12, ms: 100 },
    large: { rounds: 5, calls: 20 },
    warmUpCalls: 8000,
    warmUpMs: 3000,
  },
};
const PEERS = ['supergateway', 'mcp-proxy', 'mcp-hub'];
const IN_FLIGHT = 64;

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    who: { type: 'string', multiple: true, default: [] },
    size: { type: 'string', multiple: true, default: ['small', 'large'] },
    lives: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const words = (given) => given.flatMap((one) => one.split(','));
const chosen = PLANS[options.quick ? 'quick' : options.short ? 'short' : 'full'];
const plan = options.lives ? { ...chosen, lives: Number(options.lives) } : chosen;
const sizes = words(options.size);
const who = words(options.who);
const names = ['relay', 'parley', ...EARLIER, ...(who.length > 0 ? who : PEERS)].filter(
  (name, index, all) => all.indexOf(name) === index,
);

installPeers();
const build = buildStamp();
const began = performance.now();
const server = fork(SERVER, ['--port', '0']);
const [{ url }] = await once(server, 'message');
const measured = [];
for (const group of groups(['same', ...words(options.only)])) {
  for (const cell of await measureGroup(group)) {
    console.log(wrapLine(cell));
    measured.push(cell);
  }
}
server.kill();

const run = { ...machine(), plan, seconds: Math.round((performance.now() - began) / 1000) };
const table = wrapTable(run, measured);
const results = new URL('results/', import.meta.url);
mkdirSync(results, { recursive: true });
writeFileSync(new URL('wrap.md', results), table);
// A build in between means that two programs were measured.
if (buildStamp() !== build) console.log('\ndist/ was rebuilt during the run: RESULTS.md is left as it is.');
else if (options.write) renewResults('wrap', table);
console.log(`\n${RATIO}\n${run.cpu}, ${run.cores} cores, Node ${run.node}, ${run.commit}, ${run.seconds} s`);
process.exit();

async function measureGroup(group) {
  const present = names.filter((name) => !whyNot(name, group));
  const cells = sizes.map((size) => ({ group, size, rounds: Object.fromEntries(present.map((name) => [name, []])) }));
  for (let life = 0; life < plan.lives; life++) {
    const contenders = [];
    for (const name of present) contenders.push(await startContender(name, group, { url, pid: server.pid }));
    for (const one of contenders) await warmUp(one, plan);
    for (const cell of cells) await measureCell(contenders, cell);
    await Promise.all(contenders.map((one) => one.stop()));
  }
  return cells;
}

async function measureCell(contenders, { size, rounds: taken }) {
  const { rounds, ms = 0, calls = 30 } = plan[size];
  // A process for every call cannot have many at once.
  const able = contenders.filter((one) => !one.isSlow);
  const how = { inFlight: size === 'small' ? IN_FLIGHT : 1, ms, fewest: calls };
  for (const one of able) {
    await one.checkPatiently(size); // its connection may have been idle for too long
    await one.load(size, how);
  }
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < able.length; turn++) {
      const one = able[(round + turn) % able.length];
      taken[one.name].push((await one.measure(size, how)).cpu);
    }
}
