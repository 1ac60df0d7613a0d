// The tables in docs/evidence/conformance.md, between their markers. The rest of the page is written by hand and is not touched.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

const PAGE = join(ROOT, 'docs', 'evidence', 'conformance.md');
const SIGNS = { passed: '✓', skipped: '–', failed: '✗' };

/** `name` is that of the markers. */
export function renewPage(name, rows, runs) {
  const page = readPage();
  const block = toBlock(name, rows, runs);
  const present = blockIn(page, name);
  writeFileSync(
    PAGE,
    present === undefined ? `${page.trimEnd()}\n\n${block}\n`.trimStart() : page.replace(present, () => block),
  );
}

/** True when the page shows what came out. */
export function comparePage(name, rows, runs) {
  if (blockIn(readPage(), name) === toBlock(name, rows, runs)) return true;
  console.log(
    '\n✗ docs/evidence/conformance.md is not what this run gives: npm run test:conformance -- --write renews it',
  );
  return false;
}

function toBlock(name, rows, runs) {
  const clients = [...new Set(rows.map(({ revision }) => revision))];
  const tables = clients.map((client) =>
    [toTable(client, rows, runs), ...(name === 'sdk' ? [toScore(client, rows, runs)] : [])].join('\n'),
  );
  const notes = notesOf(rows);
  const [begin, end] = markersOf(name);
  return [begin, ...tables, ...(notes ? [notes] : []), end].join('\n\n');
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

/** A last line: how many of the scored scenarios pass. */
function toScore(client, rows, runs) {
  const own = rows.filter(({ revision, scored }) => revision === client && scored);
  const scores = [
    scoreOf(own.map(({ direct }) => direct)),
    ...runs.map((_, index) => scoreOf(own.map(({ cells }) => cells[index].through))),
  ];
  return `| **scored scenarios that pass** | ${scores.join(' | ')} |`;
}

export function scoreOf(results) {
  return `${results.filter((one) => one?.result === 'passed').length}/${results.length}`;
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

/** The same sign as in the column "direct" where nothing differs; one sign whatever came out where it may be either. */
function cellOf(cell, rows) {
  if (cell.expected?.mayBeSame && cell.result !== 'different') {
    return `≈${superscript(reasonsOf(rows).indexOf(cell.expected.reason) + 1)}`;
  }
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
  return [
    ...new Set(
      cells.flatMap(({ result, expected }) => (result === 'expected' || expected?.mayBeSame ? [expected.reason] : [])),
    ),
  ];
}

function superscript(number) {
  return String(number).replaceAll(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]);
}

function readPage() {
  return existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
}

function blockIn(page, name) {
  const [begin, end] = markersOf(name);
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  return start === -1 || stop < start ? undefined : page.slice(start, stop + end.length);
}

function markersOf(name) {
  return [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
}
