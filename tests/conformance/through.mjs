// The official suite through the gateway: what it finds must be what it finds without one, scenario by scenario and check
// by check, for both revisions on either side and both ways to reach a server.
//
//   node tests/conformance/through.mjs [--write] [--scenario NAME] [--client R] [--server R] [--upstream stdio|http]
//
// Without --write the table in docs/conformance.md must be what this run gives; --write renews it. With a selection the page
// is neither compared nor written.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installSuite } from './harness/install.mjs';
import { RESULTS, ROOT } from './harness/paths.mjs';
import { planScenarios, REVISIONS } from './harness/scenarios.mjs';
import { runServerScenarios } from './harness/server-leg.mjs';
import { startSut } from './harness/sut.mjs';
import { compareRuns, differs, toRow } from './harness/compare.mjs';
import { comparePage, renewPage } from './harness/page.mjs';
import { printComparison } from './harness/report-comparison.mjs';

const UPSTREAMS = ['stdio', 'http'];
const DIRECT = 'node tests/acceptance/fixture.mjs conformance --port {port}';
const FOLDER = join(RESULTS, 'through');

try {
  process.exitCode = await main(readOptions());
} catch (error) {
  process.stderr.write(`conformance: ${error.message}\n`);
  process.exitCode = 1;
}

async function main(options) {
  installSuite();
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });

  const plans = await Promise.all(options.clients.map((client) => plan(client, options.scenario)));
  const direct = await run('direct', DIRECT, plans);
  const runs = [];
  for (const upstream of options.upstreams) {
    for (const server of options.servers) {
      const command = `node tests/conformance/gateway-sut.mjs --port {port} --upstream ${upstream} --revision ${server}`;
      const again = (row) => differs(row, direct, { upstream, server });
      runs.push({ upstream, server, rows: await run(`${upstream}-${server}`, command, plans, again) });
    }
  }
  const rows = direct.map((row) => toRow(row, runs));
  const totals = compareRuns(rows, { all: !options.isPart });
  let isCurrent = true;
  if (options.write && !options.isPart) renewPage(rows, runs);
  else if (!options.isPart) isCurrent = comparePage(rows, runs);
  printComparison(rows, runs, totals);
  return isCurrent && totals.failed === 0 && totals.stale.length === 0 ? 0 : 1;
}

/** What differs is tried once more: some scenarios allow half a second for what takes a new process on a busy machine. */
async function run(name, command, plans, again = () => false) {
  process.stderr.write(`conformance: ${name}\n`);
  const folder = join(FOLDER, name);
  const sut = await startSut(command, folder);
  try {
    const rows = [];
    for (const one of plans) {
      for (const row of await runServerScenarios(one, sut.url, folder)) {
        rows.push(again(row) ? await runAgain(one, row, { url: sut.url, folder: join(folder, 'again') }) : row);
      }
    }
    return rows;
  } finally {
    await sut.stop();
  }
}

async function runAgain(plan, { scenario, scored }, { url, folder }) {
  const single = { ...plan, single: true, scenarios: [{ name: scenario, scored }] };
  const [row] = await runServerScenarios(single, url, folder);
  return row;
}

/** What is known to fail directly must fail through the gateway too: the comparison sees to that, so nothing is listed. */
async function plan(revision, scenario) {
  const scenarios = await planScenarios('server', revision, scenario);
  return { revision, scenarios, single: scenario !== undefined, baseline: new Map() };
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      write: { type: 'boolean' },
      scenario: { type: 'string' },
      client: { type: 'string' },
      server: { type: 'string' },
      upstream: { type: 'string' },
    },
  });
  process.chdir(ROOT);
  const { scenario, client, server, upstream, write } = values;
  return {
    write,
    scenario,
    clients: oneOf('client', client, REVISIONS),
    servers: oneOf('server', server, REVISIONS),
    upstreams: oneOf('upstream', upstream, UPSTREAMS),
    isPart: [scenario, client, server, upstream].some((value) => value !== undefined),
  };
}

function oneOf(name, value, known) {
  if (value === undefined) return known;
  if (!known.includes(value)) throw new Error(`--${name}: one of ${known.join(', ')}, not ${value}`);
  return [value];
}
