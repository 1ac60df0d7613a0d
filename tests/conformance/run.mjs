// The official conformance suite against Parley: its server scenarios against the fixture, its client scenarios (all but
// authorization) against client.mjs, both for each revision. One table, one closing line.
//
//   npm run test:conformance -- [--server] [--client] [--scenario NAME] [--revision R] [--sut "command {port}"] [--json FILE]
//
// Non-zero when a scenario failed that expected-failures-<revision>.yaml does not list, or when a listed one passes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadBaseline, strayEntries } from './harness/baseline.mjs';
import { runClientScenarios } from './harness/client-leg.mjs';
import { installSuite } from './harness/install.mjs';
import { RESULTS, ROOT } from './harness/paths.mjs';
import { printReport, totalsOf } from './harness/report.mjs';
import { planScenarios, REVISIONS } from './harness/scenarios.mjs';
import { runServerScenarios } from './harness/server-leg.mjs';
import { startSut } from './harness/sut.mjs';

const DEFAULT_SUT = 'node tests/acceptance/fixture.mjs conformance --port {port}';

try {
  process.exitCode = await main(readOptions());
} catch (error) {
  process.stderr.write(`conformance: ${error.message}\n`);
  process.exitCode = 1;
}

async function main(options) {
  installSuite();
  rmSync(RESULTS, { recursive: true, force: true });
  mkdirSync(RESULTS, { recursive: true });

  const rows = [];
  if (options.legs.includes('server')) rows.push(...(await testServer(options)));
  if (options.legs.includes('client')) rows.push(...(await testClient(options)));

  printReport(rows);
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ totals: totalsOf(rows), rows }, null, 2)}\n`);
  return rows.length > 0 && totalsOf(rows).unexpected === 0 ? 0 : 1;
}

/** One server for both revisions: that one endpoint serves both eras is part of what is tested. */
async function testServer(options) {
  const plans = await plansFor('server', options);
  if (plans.every(({ scenarios }) => scenarios.length === 0)) return [];
  const sut = await startSut(options.sut);
  try {
    const found = plans.flatMap(strays);
    for (const plan of plans) found.push(...(await runServerScenarios(plan, sut.url)));
    return found;
  } finally {
    await sut.stop();
  }
}

async function testClient(options) {
  const plans = await plansFor('client', options);
  const found = plans.flatMap(strays);
  for (const plan of plans) found.push(...(await runClientScenarios(plan)));
  return found;
}

/** A run of one scenario says nothing about the other entries. */
function strays(plan) {
  return plan.single ? [] : strayEntries(plan);
}

function plansFor(leg, options) {
  return Promise.all(
    options.revisions.map(async (revision) => ({
      leg,
      revision,
      single: options.scenario !== undefined,
      scenarios: await planScenarios(leg, revision, options.scenario),
      baseline: await loadBaseline(leg, revision),
    })),
  );
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      server: { type: 'boolean' },
      client: { type: 'boolean' },
      scenario: { type: 'string' },
      revision: { type: 'string' },
      sut: { type: 'string', default: DEFAULT_SUT },
      json: { type: 'string' },
    },
  });
  const named = ['server', 'client'].filter((leg) => values[leg]);
  const legs = named.length > 0 ? named : ['server', 'client'];
  if (values.revision && !REVISIONS.includes(values.revision)) {
    throw new Error(`--revision: one of ${REVISIONS.join(', ')}, not ${values.revision}`);
  }
  const json = values.json && resolve(values.json);
  process.chdir(ROOT);
  return { ...values, json, legs, revisions: values.revision ? [values.revision] : REVISIONS };
}
