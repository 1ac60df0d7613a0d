// `npm run bench -- server [--quick|--short] [--only http|stdio|small|large …] [--write]`: all subjects in one run, in turns, because
// on a shared machine only figures taken side by side can be compared.
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { groups, SUBJECTS } from './cells.mjs';
import { buildStamp, installPeers } from './install.mjs';
import { callOf } from './load/messages.mjs';
import { renewResults } from './report/results-page.mjs';
import { machine, summarise } from './report/summary.mjs';
import { cellLine, HEADING, markdownTable } from './report/table.mjs';
import { startSubject } from './subject.mjs';

// Lives: how often each server is started again. What the compiler makes of a program differs from process to process by
// more than the rounds within one do. The warm-up is a number of calls: by time a slow server would be measured before
// its code is compiled. A group that takes longer than `groupMs`, on a busy machine, gets fewer lives.
const PLANS = {
  full: { lives: 4, rounds: 5, ms: 100, settleMs: 60, warmUpCalls: 5000, groupMs: 50_000 },
  short: { lives: 2, rounds: 4, ms: 80, settleMs: 40, warmUpCalls: 3000, groupMs: 15_000 },
  quick: { lives: 1, rounds: 5, ms: 80, settleMs: 40, warmUpCalls: 2000, groupMs: 10_000 },
};

const LARGE_WARM_UP_CALLS = 100;
const FEWEST_LIVES = 2;

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
  },
});
const plan = PLANS[options.quick ? 'quick' : options.short ? 'short' : 'full'];

installPeers();
const build = buildStamp();
const began = performance.now();
const measured = [];
console.log(HEADING);
for (const group of groups(options.only.flatMap((only) => only.split(',')))) measured.push(...(await runGroup(group)));

const run = { ...machine(), plan, seconds: Math.round((performance.now() - began) / 1000), cells: measured };
const results = new URL('results/', import.meta.url);
mkdirSync(results, { recursive: true });
writeFileSync(new URL('latest.json', results), JSON.stringify(run, undefined, 2) + '\n');
// Processes start one group after the other: a build in between means that two programs were measured.
if (buildStamp() !== build) console.log('\ndist/ was rebuilt during the run: RESULTS.md is left as it is.');
else if (options.write) renewResults('server', `${runLine(run)}\n\n${markdownTable(run.cells)}`);
console.log(`\n${run.cpu}, ${run.cores} cores, Node ${run.node}, ${run.seconds} s`);

function runLine({ cpu, cores, node, date, commit, plan: { lives, rounds, ms } }) {
  return `Commit ${commit}. ${cpu}, ${cores} cores, Node ${node}, ${date}; up to ${lives} processes of each server, ${rounds} rounds of ${ms} ms in each.`;
}

async function runGroup(group) {
  const taken = group.cells.map(() => ({}));
  let names = SUBJECTS;
  const start = performance.now();
  for (let life = 0; life < plan.lives; life += 1) {
    if (life >= FEWEST_LIVES && performance.now() - start > plan.groupMs) break;
    names = await runLife(group, names, taken);
  }
  return group.cells.map((cell, index) => {
    // Only who finished every life: ratios are taken round by round.
    const rounds = Object.fromEntries(names.map((name) => [name, taken[index][name]]));
    const summary = summarise(cell, rounds, plan.rounds);
    console.log(cellLine(summary));
    return summary;
  });
}

/** Resolves with the names of those that are still worth starting again. */
async function runLife(group, names, taken) {
  const started = await Promise.all(
    names.map((name) => startSubject(name, group).catch((error) => leaveOut(name, group, error))),
  );
  let subjects = [];
  for (const subject of started) {
    if (subject && (await survives(subject, group, () => warmUp(subject, group)))) subjects.push(subject);
  }
  for (const [index, cell] of group.cells.entries()) subjects = await runCell(cell, subjects, taken[index]);
  await Promise.all(subjects.map((subject) => subject.stop()));
  return subjects.map(({ name }) => name);
}

async function warmUp(subject, group) {
  for (const { size } of group.cells) await subject.check(callOf(size, group.era));
  const busiest = group.cells.reduce((one, other) => (other.inFlight > one.inFlight ? other : one));
  const fewest = busiest.size === 'small' ? plan.warmUpCalls : LARGE_WARM_UP_CALLS;
  await subject.load(callOf(busiest.size, group.era), { inFlight: busiest.inFlight, ms: 0, fewest });
}

/** Rounds in turns, each starting with another subject, so that a busy moment of the machine hits no one alone. */
async function runCell({ inFlight, ...cell }, starters, taken) {
  let subjects = starters;
  const calls = new Map(subjects.map(({ name }) => [name, callOf(cell.size, cell.era)]));

  async function everyone(round, work) {
    const alive = [];
    for (let turn = 0; turn < subjects.length; turn += 1) {
      const subject = subjects[(round + turn) % subjects.length];
      if (await survives(subject, cell, () => work(subject, calls.get(subject.name)))) alive.push(subject.name);
    }
    subjects = subjects.filter(({ name }) => alive.includes(name));
  }

  await everyone(0, (subject, call) => subject.load(call, { inFlight, ms: plan.settleMs }));
  for (let round = 0; round < plan.rounds; round += 1) {
    await everyone(round, async (subject, call) => {
      (taken[subject.name] ??= []).push(await subject.measure(call, { inFlight, ms: plan.ms }));
    });
  }
  return subjects;
}

/** A server that fails is left out of the rest of its group: the others are still worth measuring. */
async function survives(subject, where, work) {
  try {
    await work();
    return true;
  } catch (error) {
    leaveOut(subject.name, where, error);
    await subject.stop();
    return false;
  }
}

function leaveOut(name, { transport, era }, error) {
  console.log(`skipped: ${name}, ${transport}, ${era}: ${error.message}`);
}
