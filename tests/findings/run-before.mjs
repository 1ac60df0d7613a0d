// Plays the tests of the findings on the commit in which they were made, and writes how they ended to before.json: a test that passes
// there shows nothing.
//
//   node tests/findings/run-before.mjs [--only "security H1"] [--commit e5ee2753]
//
// The commit is built from the git history in a folder for temporary files. Today's tests, helpers and fixtures are copied over its own.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readResults } from '../borders/results.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '..', '..');
const OUTCOMES = join(HERE, 'before.json');
/** Where tests and what they need are, besides the unit tests in src. */
const COPIED = [
  'tests/helpers',
  'tests/fixtures',
  'tests/integration',
  'tests/browser',
  'tests/package',
  'tests/peers',
];

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, commit: { type: 'string', default: 'e5ee2753' } },
});
const rows = readRows().filter(({ finding }) => !options.only || finding === options.only);
const tests = rows.flatMap(({ state, tests: own = [] }) => (state === 'fixed' ? own : []));
const files = [...new Set(tests.map(({ file }) => file))].filter((file) => file.endsWith('.test.ts'));
const checkout = prepareCheckout();
copyTests(checkout);
const results = play(checkout);
const outcomes = existsSync(OUTCOMES) ? JSON.parse(readFileSync(OUTCOMES, 'utf8')) : {};
for (const test of tests) outcomes[`${test.file} > ${test.title}`] = outcomeOf(test);
const named = new Set(readRows().flatMap(({ tests: own = [] }) => own.map(({ file, title }) => `${file} > ${title}`)));
const kept = Object.entries(outcomes).filter(([name]) => named.has(name));
writeFileSync(
  OUTCOMES,
  `${JSON.stringify(Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1))), undefined, 2)}\n`,
);
const failed = tests.filter((test) => outcomeOf(test) === 'failed').length;
console.log(`${failed} of ${tests.length} tests fail on ${options.commit}`);

function readRows() {
  const names = readdirSync(HERE).filter((name) => name.endsWith('.json') && name !== 'before.json');
  return names.flatMap((name) => JSON.parse(readFileSync(join(HERE, name), 'utf8')));
}

function prepareCheckout() {
  const folder = join(tmpdir(), 'parley-before', options.commit);
  if (existsSync(join(folder, 'dist'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync('git', ['archive', options.commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: packed });
  npm(folder, 'ci');
  npm(folder, 'ci', '--prefix', 'tests/peers');
  npm(folder, 'run', 'build', '--silent');
  return folder;
}

function npm(cwd, ...args) {
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, stdio: 'inherit' });
}

function copyTests(folder) {
  const copy = (path) =>
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: (from) => !from.includes('node_modules') });
  for (const path of COPIED) copy(path);
  for (const path of files) copy(path);
}

function play(folder) {
  const into = mkdtempSync(join(tmpdir(), 'parley-before-'));
  spawnSync('npx', ['vitest', 'run', '--maxWorkers', '2', ...files], {
    cwd: folder,
    env: { ...process.env, PARLEY_TEST_RESULTS: into },
    stdio: 'inherit',
  });
  const read = readResults(into);
  if (read.tests.size === 0) throw new Error('no test ran: see above');
  rmSync(into, { recursive: true, force: true });
  return read;
}

/** A file that cannot be loaded there, because the code that it tests did not exist, has no results. */
function outcomeOf({ file, title }) {
  const own = results.tests.get(file);
  if (!own) return file.endsWith('.test.ts') ? 'failed' : 'not played';
  const named = own.filter((test) => test.title === title || test.title.endsWith(` > ${title}`));
  if (named.length === 0) return 'not found';
  return named.some((test) => test.state === 'failed') ? 'failed' : named[0].state;
}
