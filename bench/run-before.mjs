// `PARLEY_BEFORE=FOLDER npm run bench -- before [--quick] [--only …]`: this build beside that of another checkout, in turns, as a server
// and as a gateway. A change of shape may not cost speed; run it before and after one. FOLDER is a checkout that was built.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { groups as serverGroups } from './cells.mjs';
import { SERVER } from './gateway/contenders.mjs';
import { groups as gatewayGroups } from './gateway/groups.mjs';
import { IN_FLIGHT } from './gateway/measure.mjs';
import { runGroup } from './gateway/run-group.mjs';
import { callOf } from './load/messages.mjs';
import { median } from './report/quantile.mjs';
import { startSubject } from './subject.mjs';

const PLANS = {
  full: { starts: 4, lives: 3, rounds: 9, ms: 120, largeRounds: 3, warmUpCalls: 20_000, warmUpMs: 5000 },
  quick: { starts: 1, lives: 1, rounds: 3, ms: 80, largeRounds: 1, warmUpCalls: 3000, warmUpMs: 2000 },
};
const PAIRS = [
  ['parley', 'parley before'],
  ['parley+chain', 'parley+chain before'],
];

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', multiple: true, default: [] } },
});
const { PARLEY_BEFORE: folder } = process.env;
if (!folder || !existsSync(join(folder, 'dist/cli/main.js'))) {
  console.error(
    'PARLEY_BEFORE must name a checkout of Parley with its build: run `npm ci && npm run build` there first.',
  );
  process.exit(1);
}
const plan = options.quick ? PLANS.quick : PLANS.full;
const only = options.only.flatMap((one) => one.split(','));
const callRatios = [];
const otherRatios = [];

if (only.length === 0 || only.includes('server')) for (const group of serverGroups(only)) await compareServers(group);
if (only.length === 0 || !only.includes('server')) await compareGateways();
report('CPU per call', callRatios);
report('starts and memory', otherRatios);
process.exit();

async function compareServers(group) {
  const taken = group.cells.map(() => []);
  for (let life = 0; life < plan.lives; life++) {
    const subjects = await Promise.all(['parley', 'before'].map((name) => startSubject(name, group)));
    for (const subject of subjects) {
      for (const { size } of group.cells) await subject.check(callOf(size, group.era));
      await subject.load(callOf('small', group.era), { inFlight: 16, ms: 0, fewest: plan.warmUpCalls / 4 });
    }
    for (const [index, { size, inFlight }] of group.cells.entries()) {
      // Each has its own, because a client keeps the prepared request with it.
      const calls = new Map(subjects.map((subject) => [subject, callOf(size, group.era)]));
      for (let round = 0; round < plan.rounds; round++) {
        const cpu = {};
        for (const subject of round % 2 === 0 ? subjects : subjects.toReversed())
          cpu[subject.name] = (await subject.measure(calls.get(subject), { inFlight, ms: plan.ms })).cpu;
        taken[index].push(cpu.parley / cpu.before);
      }
    }
    await Promise.all(subjects.map((subject) => subject.stop()));
  }
  for (const [index, { transport, era, size, inFlight }] of group.cells.entries())
    tell(callRatios, `server, ${transport}, ${era}, ${size}, ${inFlight}`, median(taken[index]));
}

async function compareGateways() {
  const server = fork(SERVER, ['--port', '0']);
  const [{ url }] = await once(server, 'message');
  for (const group of gatewayGroups(only.filter((one) => one !== 'gateway'))) {
    // Large results are measured beside a direct connection.
    const { taken } = await runGroup(group, {
      plan,
      names: ['direct', ...PAIRS.flat()],
      server: { url, pid: server.pid },
    });
    const name = `${group.from} → ${group.to}, ${group.era}${group.era === group.serverEra ? '' : ` → ${group.serverEra}`}`;
    const ratioOf = (pair, figure, part) => taken.compare(pair, { figure, part }, (one, other) => one / other);
    for (const pair of PAIRS) {
      for (const inFlight of IN_FLIGHT)
        tell(callRatios, `${pair[0]}, ${name}, small, ${inFlight}`, ratioOf(pair, `small${inFlight}`, 'cpu'));
      for (const size of ['large', 'huge'])
        tell(callRatios, `${pair[0]}, ${name}, ${size}, 1`, ratioOf(pair, size, 'cpu'));
      for (const figure of ['firstAnswerMs', 'firstCallMs', 'idleMb'])
        tell(otherRatios, `${pair[0]}, ${name}, ${figure}`, ratioOf(pair, figure));
    }
  }
  server.kill();
}

function tell(list, cell, ratio) {
  if (ratio === undefined) return;
  list.push(ratio);
  console.log(`${ratio.toFixed(2)}  ${cell}`);
}

function report(what, ratios) {
  if (ratios.length === 0) return;
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  console.log(
    `${what}, now ÷ before: geometric mean ${mean.toFixed(3)}, highest ${Math.max(...ratios).toFixed(2)}, ${ratios.length} cells`,
  );
}
