// The server scenarios of one revision: all in one run of the suite, which takes them one after the other.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from './baseline.mjs';
import { baselineFile, RESULTS } from './paths.mjs';
import { readChecks, runSuite } from './run-suite.mjs';

const DEADLINE_MS = 300_000;

export async function runServerScenarios(plan, url, results = RESULTS) {
  const { revision, scenarios, baseline, single } = plan;
  if (scenarios.length === 0) return [];
  const folder = join(results, `server-${revision}`);
  mkdirSync(folder, { recursive: true });
  process.stderr.write(`conformance: ${scenarios.length} server scenario(s), ${revision} …\n`);

  // --force: the extension scenarios stand outside the line of revisions, and would be skipped by --spec-version.
  const selection = single
    ? ['--scenario', scenarios[0].name, '--spec-version', revision, '--force']
    : ['--requirements', revision];
  const expected = ['--expected-failures', baselineFile(revision)];
  const { code } = await runSuite(['server', '--url', url, ...selection, ...expected, '-o', folder], {
    deadlineMs: DEADLINE_MS,
    log: join(folder, 'suite.log'),
  });

  const rows = [];
  for (const { name, scored } of scenarios) {
    const checks = await readChecks(folder, `server-${name}`);
    const outcome = checks ? judge(checks, baseline.get(name)) : noResult(code);
    rows.push({ scenario: name, leg: 'server', revision, scored, ...outcome });
  }
  return [...rows, ...disagreement(code, rows, revision)];
}

function noResult(code) {
  const message =
    code === undefined ? `the suite did not end within ${DEADLINE_MS} ms` : `the suite wrote no result (exit ${code})`;
  return { result: 'failed', checks: 0, failures: [{ id: 'no-result', status: 'FAILURE', message }] };
}

/** Should the suite find fault where we found none, our reading of its results is wrong: that must not pass silently. */
function disagreement(code, rows, revision) {
  if (code === 0 || rows.some(({ result }) => result === 'failed' || result === 'stale')) return [];
  const failures = [
    { id: 'suite-exit', status: 'FAILURE', message: `the suite itself exited with ${code}; see suite.log` },
  ];
  return [{ scenario: '(suite)', leg: 'server', revision, scored: true, result: 'failed', checks: 0, failures }];
}
