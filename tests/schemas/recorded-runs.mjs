// The acceptance kit and the official conformance suite, played against a recorded fixture: whether they pass is their own
// business, here only what our side says in them is checked.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkRecords } from './check-records.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** For what is said before anything is agreed on. */
const FALLBACK = '2025-11-25';
const OUTPUT_CHARS = 2000;

const SUITES = {
  'acceptance kit': (sut) => [
    'tests/acceptance/kit/run.mjs',
    '--sut',
    `${sut} {fixture} {listen}`,
    '--transport',
    'all',
    '--seed',
    'protocol,dialect,analysis',
  ],
  conformance: (sut) => ['tests/conformance/run.mjs', '--server', '--sut', `${sut} conformance --port {port}`],
};

export const RECORDED_SUITES = Object.keys(SUITES);

/** `{ checked, violations, excused, output }`; `output` is the end of what the suite printed. */
export async function checkSuite(name) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-schemas-'));
  try {
    const output = await run(SUITES[name](`node tests/schemas/recorded-fixture.mjs ${folder}`));
    return { ...merge(readdirSync(folder).map((file) => checkFile(join(folder, file), file.split('-')[0]))), output };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output = (output + chunk).slice(-OUTPUT_CHARS)));
  }
  return new Promise((resolve, reject) => child.once('error', reject).once('close', () => resolve(output)));
}

function checkFile(file, ours) {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return checkRecords(
    lines.map((line) => JSON.parse(line)),
    { ours, fallback: FALLBACK },
  );
}

function merge(parts) {
  const merged = { checked: 0, violations: [], excused: {} };
  for (const { checked, violations, excused } of parts) {
    merged.checked += checked;
    merged.violations.push(...violations);
    for (const [name, count] of Object.entries(excused)) merged.excused[name] = (merged.excused[name] ?? 0) + count;
  }
  return merged;
}
