// The official conformance suite against Parley. Directly: its server scenarios against the fixture, its client scenarios
// against client.mjs, both for each revision, and those about authorization again against a client behind a gateway
// (gateway-client.mjs). Through the gateway: its server scenarios again, with a gateway before the same fixture, compared with the
// direct run. Then both again with a fixture made with SDK v2, which speaks both
// eras, and a gateway that chooses. Three tables, one closing line.
//
//   npm run test:conformance -- [--server] [--client] [--gateway] [--through] [--sdk] [--write] [--scenario NAME] [--revision R]
//     [--upstream stdio|http] [--towards R] [--sut "command {port}"] [--json FILE] [--replicas N]
//
// Non-zero when a scenario failed that expected-failures-<revision>.yaml does not list, when one came out otherwise through the
// gateway than directly and expected-differences.mjs does not say why, when an entry of either is stale, or when the table in
// docs/evidence/conformance.md is not what came out; --write renews it. With a selection the page is neither compared nor written.
// --replicas: each gateway is so many that serve as one, behind a proxy that sends each request to the next of them.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXPECTED_DIFFERENCES } from './expected-differences.mjs';
import { compareRuns, toRow } from './harness/compare.mjs';
import { runClientScenarios } from './harness/client-leg.mjs';
import { installSuite } from './harness/install.mjs';
import { readOptions } from './harness/options.mjs';
import { comparePage, renewPage, scoreOf } from './harness/page.mjs';
import { RESULTS } from './harness/paths.mjs';
import { installPeers } from '../peers/harness/install.mjs';
import { authorizationOf, backCompatPlans, plansFor, strays } from './harness/plans.mjs';
import { printComparison } from './harness/report-comparison.mjs';
import { printReport, totalsOf } from './harness/report.mjs';
import { DIRECT, runDirectly, SDK_DIRECT } from './harness/direct-leg.mjs';
import { runThrough } from './harness/through-leg.mjs';

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

  const serverPlans = options.has('server') || options.has('through') ? await plansFor('server', options) : [];
  const wanted = options.has('client') || options.has('gateway');
  const clients = wanted ? [...(await plansFor('client', options)), ...(await backCompatPlans(options))] : [];
  const clientPlans = options.has('client') ? clients : [];
  const gatewayPlans = options.has('gateway') ? clients.map(authorizationOf) : [];
  const server = await runDirectly(serverPlans, options.sut ?? DIRECT);
  const rows = [...serverPlans.flatMap(strays), ...server, ...clientPlans.flatMap(strays)];
  for (const plan of clientPlans) rows.push(...(await runClientScenarios(plan)));
  for (const plan of gatewayPlans) rows.push(...(await runClientScenarios(plan, 'gateway')));
  const direct = printReport(rows);
  const through = options.has('through') ? await compareOwn(serverPlans, server, options) : { isGood: true };
  const sdk = options.has('sdk') ? await compareSdk(options) : { isGood: true };

  if (options.json) {
    const compared = [through, sdk].flatMap(({ cells = [] }) => cells);
    writeFileSync(options.json, `${JSON.stringify({ totals: totalsOf(rows), rows, through: compared }, null, 2)}\n`);
  }
  printClosingLine(direct, through, sdk);
  const isDone = rows.length > 0 || sdk.passed > 0;
  return isDone && direct.unexpected === 0 && through.isGood && sdk.isGood ? 0 : 1;
}

function compareOwn(plans, direct, options) {
  return compare(
    { name: 'through', plans, direct, gateways: options.gateways, fixture: 'own', beside: DIRECT },
    options,
  );
}

/** What the SDK's server does not pass by itself counts as a failure: then it is not a yardstick. */
async function compareSdk(options) {
  installPeers();
  const all = await plansFor('server', options);
  // The extension of tasks is left out: the SDK has no servers of it.
  const plans = all.map((plan) => ({
    ...plan,
    scenarios: plan.scenarios.filter(({ name }) => !name.startsWith('tasks-')),
  }));
  const direct = await runDirectly(plans, SDK_DIRECT, join(RESULTS, 'sdk'));
  const report = printReport(direct);
  const gateways = options.sdkGateways;
  const through = await compare({ name: 'sdk', plans, direct, gateways, fixture: 'sdk', beside: SDK_DIRECT }, options);
  for (const { revision } of plans)
    console.log(
      `SDK v2 server through the gateway, ${revision}: ${through.scores[revision].join(', ')} scored scenarios pass`,
    );
  const sum = (what) => (report[what] ?? 0) + (through[what] ?? 0);
  return {
    isGood: report.unexpected === 0 && through.isGood,
    cells: through.cells,
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
  };
}

async function compare({ name, ...what }, options) {
  const { plans, direct } = what;
  const runs = await runThrough({ ...what, replicas: options.replicas });
  const planned = plans.flatMap(({ revision, scenarios }) =>
    scenarios.map((scenario) => `${revision} ${scenario.name}`),
  );
  const rows = direct
    .filter(({ revision, scenario }) => planned.includes(`${revision} ${scenario}`))
    .map((row) => toRow(row, runs));
  const known = EXPECTED_DIFFERENCES.filter(({ server }) =>
    name === 'sdk' ? server === 'SDK v2' : server !== 'SDK v2',
  );
  const totals = compareRuns(rows, { all: !options.isPart, known });
  printComparison(rows, runs, totals);
  if (options.write) renewPage(name, rows, runs);
  const isCurrent = options.write || options.isPart || comparePage(name, rows, runs);
  const scores = Object.fromEntries(
    plans.map(({ revision }) => {
      const own = rows.filter((row) => row.revision === revision && row.scored);
      return [revision, runs.map((_, index) => scoreOf(own.map(({ cells }) => cells[index].through)))];
    }),
  );
  const cells = rows.flatMap(({ scenario, revision, cells: own }) =>
    own.map(({ upstream, server, through, result }) => {
      return { name, scenario, revision, upstream, server, result, found: through?.found };
    }),
  );
  return { ...totals, scores, cells, isGood: isCurrent && totals.failed === 0 && totals.stale.length === 0 };
}

function printClosingLine(...all) {
  const sum = (what) => all.reduce((total, one) => total + (one[what] ?? 0), 0);
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
}
