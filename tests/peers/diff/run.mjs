// What an official client and an official server say to each other, directly and through a gateway: every behaviour of
// behaviours/ in every cell of cells.mjs, numbers and ids as text (wire/), and servers that others published (real/).
//
//   node tests/peers/diff/run.mjs [--write] [--behaviour TEXT] [--cell TEXT] [--real TEXT] [--open FILE]
//
// Non-zero when a behaviour differs and expected.mjs does not say why, when an entry of that list is stale, when a behaviour
// fails directly, or when the table in docs/evidence/borders.md is not what came out; --write renews it, and leaves out real/. With a selection the page is
// neither compared nor written. --open renews known-open.json, and describes it in FILE.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { installPeers } from '../harness/install.mjs';

installPeers();
const { BEHAVIOURS } = await import('./behaviours/all.mjs');
const { CELLS, nameOf } = await import('./cells.mjs');
const { EXPECTED } = await import('./expected.mjs');
const { SAME, isSameAs, judge } = await import('./judge.mjs');
const { inLanes } = await import('./lanes.mjs');
const { playDirectly, playThrough } = await import('./play.mjs');
const { describeOpen, printResults } = await import('./report.mjs');
const { toTable } = await import('./table.mjs');
const { hasBlock, renewBlock } = await import('../harness/page-block.mjs');

const JOBS = 2;
const PAGE = 'evidence/borders.md';
const OPEN_FILE = new URL('known-open.json', import.meta.url);
const { values: options } = parseArgs({
  options: {
    write: { type: 'boolean' },
    behaviour: { type: 'string' },
    cell: { type: 'string' },
    real: { type: 'string' },
    open: { type: 'string' },
  },
});
const isPart = [options.behaviour, options.cell, options.real].some((value) => value !== undefined);
if (options.write && isPart) throw new Error('--write: the table is written from a whole run, without a selection');

const totals = { passed: 0, failed: 0, skipped: 0 };
if (options.real === undefined) await compareBehaviours();
if (!isPart) await compareText();
if ((!isPart && !options.write) || options.real !== undefined) {
  const { compareRealServers } = await import('./real/run.mjs');
  const { passed, failed } = await compareRealServers(options.real);
  totals.passed += passed;
  totals.failed += failed;
}
if (totals.failed === 0) console.log('\nNothing differs without a listed reason.');
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);

async function compareBehaviours() {
  const cells = CELLS.filter(({ id }) => !options.cell || id.includes(options.cell));
  const behaviours = BEHAVIOURS.filter(({ name }) => !options.behaviour || name.includes(options.behaviour));
  const open = JSON.parse(readFileSync(OPEN_FILE, 'utf8'));
  const direct = await playReferences(cells, behaviours);
  const results = await inLanes(JOBS, cells, async (cell) => compareCell(cell, { behaviours, direct, open }));
  const outcomes = results.flat();
  const stale = isPart ? [] : staleEntries(outcomes, open);
  count(outcomes, stale);
  printResults(outcomes, stale);
  if (options.open) renewOpen(outcomes, open);
  if (isPart) return;
  show('diff', toTable(BEHAVIOURS, CELLS, outcomes));
}

/** Renews a block of the page, or fails when the page does not show it. */
function show(name, table) {
  if (options.write) return renewBlock(PAGE, name, table);
  if (hasBlock(PAGE, name, table)) return;
  totals.failed++;
  console.log(
    '✗ a table in docs/evidence/borders.md is not what this run gives: node tests/peers/diff/run.mjs --write renews it',
  );
}

async function compareText() {
  const { compareWire } = await import('./wire/compare.mjs');
  const wire = await import('./wire/table.mjs');
  const rows = await compareWire();
  for (const row of rows.filter((one) => !wire.isSame(one))) console.log(`\n✗ ${JSON.stringify(row)}`);
  const failed = rows.filter((row) => !wire.isSame(row)).length;
  totals.passed += rows.length - failed;
  totals.failed += failed;
  show('wire', wire.toTable(rows));
}

/** Each pair that several cells are compared with is played once. */
async function playReferences(cells, behaviours) {
  const references = new Map(cells.flatMap(({ references: all }) => all.map((one) => [nameOf(one), one])));
  const played = await inLanes(JOBS, [...references.values()], async (reference) => {
    const wanted = behaviours.filter(({ only }) => only(reference));
    return [nameOf(reference), await playDirectly(reference, wanted)];
  });
  return new Map(played);
}

async function compareCell(cell, { behaviours, direct, open }) {
  const [gave, ...others] = cell.references.map((reference) => direct.get(nameOf(reference)));
  const wanted = behaviours.filter(
    ({ name, only, isBridged }) => gave.has(name) && (only(cell) || (cell.isBridged && isBridged)),
  );
  const started = Date.now();
  const through = await playThrough(
    cell,
    wanted.map((behaviour) => ({ ...behaviour, isOpen: options.open !== undefined || isOpen(behaviour, cell, open) })),
  );
  const outcomes = wanted.map((behaviour) => {
    const { name } = behaviour;
    const fails = gave.get(name).broke ?? gave.get(name).never;
    if (fails)
      return { behaviour, cell, state: 'no reference', differences: [{ at: '/', direct: fails }], reasons: [] };
    const isSame = others.some((other) => isSameAs(other.get(name), through.get(name), cell));
    const verdict = isSame
      ? SAME
      : judge(behaviour, cell, { direct: gave.get(name), through: through.get(name), expected: EXPECTED, open });
    return { behaviour, cell, ...verdict };
  });
  const odd = outcomes.filter(({ state }) => state !== 'same').length;
  console.log(
    `${cell.id.padEnd(24)} ${String(wanted.length).padStart(4)} behaviours, ${odd} not the same, ${Date.now() - started} ms`,
  );
  return outcomes;
}

function isOpen({ name }, { id }, open) {
  return open.some(({ behaviour, cells }) => behaviour === name && cells.includes(id));
}

function staleEntries(outcomes, open) {
  const used = new Set(outcomes.flatMap(({ reasons }) => reasons));
  const states = new Map(outcomes.map(({ behaviour, cell, state }) => [`${behaviour.name} in ${cell.id}`, state]));
  return [
    ...EXPECTED.filter((entry) => !used.has(entry)).map(
      ({ behaviours, reason }) => `expected.mjs: nothing differs any more in ${behaviours.join(', ')} (${reason})`,
    ),
    ...open.flatMap(({ behaviour, cells }) =>
      cells
        .filter((id) => states.get(`${behaviour} in ${id}`) !== 'open')
        .map((id) => `known-open.json: ${behaviour} no longer differs in ${id}`),
    ),
  ];
}

function count(outcomes, stale) {
  for (const { state } of outcomes) {
    if (state === 'same') totals.passed++;
    else if (state === 'expected' || state === 'open') totals.skipped++;
    else totals.failed++;
  }
  totals.failed += stale.length;
}

/** What was not played stays as it is. */
function renewOpen(outcomes, before) {
  const played = new Set(outcomes.map(({ behaviour, cell }) => `${behaviour.name} in ${cell.id}`));
  const differing = outcomes.filter(({ state }) => state === 'different' || state === 'open');
  const open = BEHAVIOURS.flatMap(({ name: named }) => {
    const name = String(named);
    const kept = before.find(({ behaviour }) => behaviour === name)?.cells ?? [];
    const cells = [
      ...kept.filter((id) => !played.has(`${name} in ${id}`)),
      ...differing.filter(({ behaviour }) => behaviour.name === name).map(({ cell }) => cell.id),
    ];
    return cells.length > 0 ? [{ behaviour: name, cells }] : [];
  });
  writeFileSync(OPEN_FILE, `${JSON.stringify(open, null, 2)}\n`);
  writeFileSync(options.open, describeOpen(differing));
}
