// The table of findings in docs/borders.md, from the rows in this folder (README.md says what a row is).
//
//   node tests/borders/write.mjs [--write] [--results]
//
// Without options: every row is well formed, every file that it names exists, and the page shows the rows. --results also wants every
// named test among the results of the run, passed; .ci/run collects them in results/. --write renews the page.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hasBlock, renewBlock } from '../peers/harness/page-block.mjs';
import { faultsOf, readResults } from './results.mjs';
import { toTable } from './table.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '..', '..');
const PAGE = ['borders.md', 'findings'];
const STATES = ['fixed', 'declined', 'open'];

const { values: options } = parseArgs({ options: { write: { type: 'boolean' }, results: { type: 'boolean' } } });
const files = readdirSync(HERE).filter((name) => name.endsWith('.json'));
const rows = files.flatMap((name) => readRows(name));
const faults = rows.flatMap(shapeFaults);
if (options.results) faults.push(...faultsOf(rows, readResults(join(HERE, 'results'))));
if (faults.length === 0) {
  const table = toTable(rows);
  if (options.write) renewBlock(...PAGE, table);
  else if (!hasBlock(...PAGE, table)) {
    faults.push('docs/borders.md does not show these rows: node tests/borders/write.mjs --write renews it');
  }
}
for (const fault of faults) console.log(`✗ ${fault}`);
const good = Math.max(0, rows.length - faults.length);
console.log(`\n${good} passed, ${faults.length} failed, 0 skipped`);
process.exit(faults.length > 0 ? 1 : 0);

function readRows(name) {
  try {
    return JSON.parse(readFileSync(join(HERE, name), 'utf8')).map((row) => ({ ...row, from: name }));
  } catch (error) {
    throw new Error(`tests/borders/${name} cannot be read as a list of rows: ${error.message}`, { cause: error });
  }
}

function shapeFaults({ from, finding, says, state, tests, decision }) {
  const where = `tests/borders/${from}, ${finding ?? 'a row without "finding"'}`;
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
