// The table in docs/conformance.md, between its markers. The rest of the page is written by hand and is not touched.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

const PAGE = join(ROOT, 'docs', 'conformance.md');
const BEGIN = '<!-- through:begin -->';
const END = '<!-- through:end -->';
const SIGNS = { passed: '✓', skipped: '–', failed: '✗' };

export function renewPage(rows, runs) {
  const page = readPage();
  const block = toBlock(rows, runs);
  const present = blockIn(page);
  writeFileSync(
    PAGE,
    present === undefined ? `${page.trimEnd()}\n\n${block}\n`.trimStart() : page.replace(present, () => block),
  );
}

/** True when the page shows what came out. */
export function comparePage(rows, runs) {
  if (blockIn(readPage()) === toBlock(rows, runs)) return true;
  console.log('\n✗ docs/conformance.md is not what this run gives: npm run test:conformance -- --write renews it');
  return false;
}

function toBlock(rows, runs) {
  const clients = [...new Set(rows.map(({ revision }) => revision))];
  const tables = clients.map((client) => toTable(client, rows, runs));
  const notes = notesOf(rows);
  return [BEGIN, ...tables, ...(notes ? [notes] : []), END].join('\n\n');
}

function toTable(client, rows, runs) {
  const own = rows.filter(({ revision }) => revision === client);
  const head = [
    `**client ${client}**`,
    'direct',
    ...runs.map(({ upstream, server }) => `${server}, ${named(upstream)}`),
  ];
  const lines = own.map((row) => [nameOf(row), signOf(row.direct), ...row.cells.map((cell) => cellOf(cell, rows))]);
  return [head, head.map((_, column) => (column === 0 ? '---' : ':-:')), ...lines]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

function nameOf({ scenario, scored }) {
  return scored ? scenario : `${scenario} (unscored)`;
}

function named(upstream) {
  return upstream === 'http' ? 'HTTP' : 'stdio';
}

function signOf({ result }) {
  return SIGNS[result] ?? '✗';
}

/** The same sign as in the column "direct" where nothing differs. */
function cellOf(cell, rows) {
  if (cell.result === 'same') return signOf(cell.through);
  return cell.expected ? `≠${superscript(reasonsOf(rows).indexOf(cell.expected.reason) + 1)}` : '✗';
}

function notesOf(rows) {
  return reasonsOf(rows)
    .map((reason, index) => `${superscript(index + 1)} ${reason}`)
    .join(' · ');
}

function reasonsOf(rows) {
  const cells = rows.flatMap((row) => row.cells);
  return [...new Set(cells.flatMap(({ result, expected }) => (result === 'expected' ? [expected.reason] : [])))];
}

function superscript(number) {
  return String(number).replaceAll(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]);
}

function readPage() {
  return existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
}

function blockIn(page) {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  return start === -1 || end < start ? undefined : page.slice(start, end + END.length);
}
