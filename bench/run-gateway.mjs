// `npm run bench -- gateway [--quick|--short] [--only http-stdio|http-http|stdio-stdio|stdio-http|handshake|stateless|same|cross …]
// [--who relay,parley …] [--lives 2] [--write]`: every gateway in one run, in turns, beside a direct connection and a bare relay.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { NAMES, SERVER } from './gateway/contenders.mjs';
import { groups } from './gateway/groups.mjs';
import { runGroup } from './gateway/run-group.mjs';
import { buildStamp, installPeers } from './install.mjs';
import { gatewayTables, groupLines } from './report/gateway-tables.mjs';
import { renewResults } from './report/results-page.mjs';
import { machine } from './report/summary.mjs';

const PLANS = {
  full: { starts: 3, lives: 2, rounds: 7, ms: 150, largeRounds: 3, warmUpCalls: 20_000, warmUpMs: 6000 },
  short: { starts: 1, lives: 1, rounds: 5, ms: 80, largeRounds: 2, warmUpCalls: 5000, warmUpMs: 2000 },
  quick: { starts: 1, lives: 1, rounds: 3, ms: 80, largeRounds: 1, warmUpCalls: 3000, warmUpMs: 2000 },
};

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    who: { type: 'string', multiple: true, default: [] },
    lives: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const words = (given) => given.flatMap((one) => one.split(','));
const chosen = PLANS[options.quick ? 'quick' : options.short ? 'short' : 'full'];
const plan = options.lives ? { ...chosen, lives: Number(options.lives) } : chosen;
const who = words(options.who);
const names = who.length > 0 ? NAMES.filter((name) => who.includes(name)) : NAMES;

installPeers();
const build = buildStamp();
const began = performance.now();
const server = fork(SERVER, ['--port', '0']);
const [{ url }] = await once(server, 'message');
const measured = [];
for (const group of groups(words(options.only))) {
  const one = await runGroup(group, { plan, names, server: { url, pid: server.pid } });
  console.log(groupLines(one).join('\n'));
  measured.push(one);
}
server.kill();

const run = { ...machine(), plan, seconds: Math.round((performance.now() - began) / 1000) };
const tables = gatewayTables(run, measured);
const results = new URL('results/', import.meta.url);
mkdirSync(results, { recursive: true });
writeFileSync(new URL('gateway.md', results), tables);
// Processes start one group after the other: a build in between means that two programs were measured.
if (buildStamp() !== build) console.log('\ndist/ was rebuilt during the run: RESULTS.md is left as it is.');
else if (options.write) renewResults('gateway', tables);
console.log(`\n${run.cpu}, ${run.cores} cores, Node ${run.node}, ${run.seconds} s`);
process.exit();
