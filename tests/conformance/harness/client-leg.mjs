// The client scenarios of one revision: one run of the suite each, because a whole suite runs in parallel (and would disturb
// the one that measures time), includes authorization, and could be hung by one client.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from './baseline.mjs';
import { baselineFile, CLIENT, GATEWAY_CLIENT, RESULTS } from './paths.mjs';
import { readChecks, runSuite } from './run-suite.mjs';

const CLIENT_TIMEOUT_MS = 30_000;
const DEADLINE_MS = CLIENT_TIMEOUT_MS + 15_000;

/** `leg`: `client`, or `gateway` for the same client behind a gateway. */
export async function runClientScenarios({ revision, scenarios, baseline }, leg = 'client') {
  if (scenarios.length === 0) return [];
  const folder = join(RESULTS, `${leg}-${revision}`);
  mkdirSync(folder, { recursive: true });
  process.stderr.write(`conformance: ${scenarios.length} client scenario(s), ${leg}, ${revision} …\n`);
  const rows = [];
  for (const { name, scored } of scenarios) {
    const outcome = await runOne({ name, revision, folder, leg, expected: baseline.get(name) });
    rows.push({ scenario: name, leg, revision, scored, ...outcome });
  }
  return rows;
}

async function runOne({ name, revision, folder, leg, expected }) {
  const program = leg === 'gateway' ? GATEWAY_CLIENT : CLIENT;
  const args = [
    'client',
    '--command',
    `"${process.execPath}" "${program}"`,
    '--scenario',
    name,
    '--spec-version',
    revision,
  ];
  const limits = ['--force', '--timeout', String(CLIENT_TIMEOUT_MS), '--expected-failures', baselineFile(revision)];
  const { code, printed } = await runSuite([...args, ...limits, '-o', folder], {
    deadlineMs: DEADLINE_MS,
    log: join(folder, 'suite.log'),
  });
  const checks = (await readChecks(folder, name)) ?? [];
  return judge([...checks, ...troubles(code, printed, checks)], expected);
}

/** What the suite prints but does not count once it is given expected failures. */
function troubles(code, printed, checks) {
  if (code === undefined) return [trouble('deadline', `the suite did not end within ${DEADLINE_MS} ms; killed`)];
  if (printed.includes('CLIENT TIMED OUT')) return [trouble('client-timeout', 'the client did not end in time')];
  if (printed.includes('CLIENT EXITED WITH ERROR')) {
    return [trouble('client-exit', `the client failed: ${lastLine(printed, 'Stderr:')}`)];
  }
  return checks.length > 0 ? [] : [trouble('no-result', `the suite wrote no result (exit ${code})`)];
}

function trouble(id, errorMessage) {
  return { id, name: id, status: 'FAILURE', errorMessage };
}

/** The line after a heading, which is where the suite repeats what the client said. */
function lastLine(text, heading) {
  const after = text.slice(text.lastIndexOf(heading) + heading.length);
  return after.trimStart().split('\n', 1)[0];
}
