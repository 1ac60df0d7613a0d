// Runs the server scenarios through each gateway. A scenario that differs from the direct run is repeated alone, beside
// a new direct run: the suite listens for only half a second where a gateway may have to start a process, and any
// machine is busy at times. Only a difference that appears every time counts.
import { join } from 'node:path';
import { differs } from './compare.mjs';
import { runPlans } from './direct-leg.mjs';
import { inLanes } from './lanes.mjs';
import { RESULTS } from './paths.mjs';
import { onlyOf } from './plans.mjs';
import { startSut } from './sut.mjs';

/** Gateways that are tested concurrently. The suite mostly waits, so two runs leave two cores half idle. */
const LANES = 2;
const LOOKS = 2;
/** More differences than a busy machine causes mean that something is broken, so do not repeat them. */
const MAX_LOOKED_AT = 10;

/** `fixture`: the server behind the gateways, `beside`: the command that starts it alone; `replicas`: how many serve as each gateway, if not one alone. */
export async function runThrough({ plans, direct, gateways, fixture, beside, replicas }) {
  const folder = join(RESULTS, 'through', fixture);
  const suts = [];
  const start = async (name, command) => {
    const sut = { ...(await startSut(command, join(folder, name))), folder: join(folder, name) };
    suts.push(sut);
    return sut;
  };
  try {
    const jobs = gateways.map((gateway) => () => runGateway({ ...gateway, fixture, replicas }, plans, start));
    const runs = await inLanes(LANES, jobs);
    await lookAgain(runs, { plans, direct, start, command: beside });
    return runs;
  } finally {
    await Promise.all(suts.map((sut) => sut.stop()));
  }
}

/** It is kept running, with all that it has started, for a second look. */
async function runGateway({ upstream, server, fixture, replicas }, plans, start) {
  process.stderr.write(`conformance: through a gateway, ${server} over ${upstream} behind it\n`);
  const which = fixture === 'sdk' ? '--fixture sdk' : `--revision ${server}`;
  const times = replicas === undefined ? '' : ` --replicas ${replicas}`;
  const command = `node tests/conformance/gateway-sut.mjs --port {port} --upstream ${upstream} ${which}${times}`;
  const sut = await start(`${upstream}-${server}`.replaceAll(' ', '-'), command);
  return { upstream, server, sut, rows: await runPlans(plans, sut.url, sut.folder) };
}

async function lookAgain(runs, { plans, direct, start, command }) {
  const odd = runs.flatMap((run) => run.rows.filter((row) => differs(row, direct, run)).map((row) => ({ run, row })));
  if (odd.length === 0 || odd.length > MAX_LOOKED_AT) return;
  const beside = await start('beside', command);
  for (const { run, row } of odd) run.rows[run.rows.indexOf(row)] = await look(row, { run, plans, beside });
}

async function look(row, { run, plans, beside }) {
  const plan = onlyOf(
    plans.find(({ revision }) => revision === row.revision),
    row.scenario,
  );
  let seen = row;
  for (let looks = 1; looks <= LOOKS; looks++) {
    const [fresh] = await runPlans([plan], beside.url, join(beside.folder, String(looks)));
    const [again] = await runPlans([plan], run.sut.url, join(run.sut.folder, `look-${looks}`));
    seen = { ...again, looks, beside: fresh };
    if (!differs(seen, [fresh], run)) return seen;
  }
  return seen;
}
