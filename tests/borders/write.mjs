// The tables of findings in docs/evidence/borders.md and docs/evidence/findings.md, from the rows in this folder and in tests/findings (README.md
// says what a row is).
//
//   node tests/borders/write.mjs [--write] [--results]
//
// Without options: every row is well formed, every file that it names exists, and the pages show the rows. --results also wants every
// named test among the results of the run, passed; .ci/run collects them in results/. --write renews the pages.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hasBlock, renewBlock } from '../peers/harness/page-block.mjs';
import { faultsOf, readResults } from './results.mjs';
import { endedBefore, toTable } from './table.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '..', '..');
const STATES = ['fixed', 'declined', 'open'];
const SETS = [
  { folder: 'tests/borders', page: ['evidence/borders.md', 'findings'] },
  // How its tests end on the commit in which the findings were made.
  { folder: 'tests/findings', page: ['evidence/findings.md', 'findings'], before: 'before.json' },
];

const { values: options } = parseArgs({ options: { write: { type: 'boolean' }, results: { type: 'boolean' } } });
const outcomes = SETS.map(renewSet);
const faults = outcomes.flatMap((outcome) => outcome.faults);
for (const fault of faults) console.log(`✗ ${fault}`);
const good = outcomes.reduce((sum, { count }) => sum + count, 0) - faults.length;
console.log(`\n${Math.max(0, good)} passed, ${faults.length} failed, 0 skipped`);
process.exit(faults.length > 0 ? 1 : 0);

function renewSet({ folder, page, before }) {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.json') && name !== before);
  const rows = names.flatMap((name) => readJson(folder, name).map((row) => ({ ...row, from: `${folder}/${name}` })));
  const earlier = before && new Map(Object.entries(readJson(folder, before)));
  const faults = [...rows.flatMap(shapeFaults), ...(earlier ? rows.flatMap((row) => beforeFaults(row, earlier)) : [])];
  if (options.results) faults.push(...faultsOf(rows, readResults(join(HERE, 'results'))));
  if (faults.length === 0) {
    const table = toTable(rows, earlier);
    if (options.write) renewBlock(...page, table);
    else if (!hasBlock(...page, table)) {
      faults.push(`docs/${page[0]} does not show these rows: node tests/borders/write.mjs --write renews it`);
    }
  }
  return { count: rows.length, faults };
}

function readJson(folder, name) {
  try {
    return JSON.parse(readFileSync(join(ROOT, folder, name), 'utf8'));
  } catch (error) {
    throw new Error(`${folder}/${name} cannot be read as JSON: ${error.message}`, { cause: error });
  }
}

/** A test that passes on the old build as well shows nothing. */
function beforeFaults({ from, finding, state, tests = [], before }, earlier) {
  if (state !== 'fixed' || before) return [];
  if (tests.some((test) => endedBefore(test, earlier) === 'failed')) return [];
  return [
    `${from}, ${finding}: none of its tests failed on the old build (node tests/findings/run-before.mjs), and no "before" says why`,
  ];
}

function shapeFaults({ from, finding, says, state, tests, decision }) {
  const where = `${from}, ${finding ?? 'a row without "finding"'}`;
  const faults = [];
  for (const [name, value] of Object.entries({ finding, says })) {
    if (typeof value !== 'string' || value === '') faults.push(`${where}: "${name}" has to be a text`);
  }
  if (!STATES.includes(state)) faults.push(`${where}: "state" has to be one of ${STATES.join(', ')}`);
  if (state === 'declined' && !existsSync(join(ROOT, 'docs', 'decisions', decision ?? ' '))) {
    faults.push(`${where}: "decision" has to name a page in docs/decisions, because the finding is declined`);
  }
  if (state === 'fixed' && !(tests?.length > 0)) faults.push(`${where}: a fixed finding needs at least one test`);
  for (const { file, title } of tests ?? []) {
    if (!title) faults.push(`${where}: a test in ${file} has no title`);
    if (!existsSync(join(ROOT, file ?? ' '))) faults.push(`${where}: there is no file ${file}`);
  }
  return faults;
}
