// The comparison on the screen: one line per scenario, then what differs and why.
const SIGNS = { same: '✓', expected: '≠', different: '✗' };
const MESSAGE_CHARS = 400;

export function printComparison(rows, runs, totals) {
  const head = ['scenario', 'client', 'direct', ...runs.map(({ upstream, server }) => `${upstream} ${server}`)];
  const lines = rows.map(({ scenario, revision, direct, cells }) => {
    return [scenario, revision, direct.result, ...cells.map(({ result }) => SIGNS[result])];
  });
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column].length)));
  for (const line of [head, ...lines]) {
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
  }
  for (const row of rows) for (const cell of row.cells) printDifference(row, cell);
  for (const { scenario, reason } of totals.stale)
    console.log(`\nexpected-differences.mjs: nothing differs any more in ${scenario} (${reason})`);
}

function printDifference({ scenario, revision }, { upstream, server, result, differences, expected, through }) {
  if (result === 'same' && !through.looks) return;
  console.log(`\n${scenario}: client ${revision}, server ${server} over ${upstream}`);
  if (through?.looks) console.log(`  looked at again ${through.looks} time(s), beside a direct run`);
  if (expected) console.log(`  expected: ${expected.reason}`);
  for (const difference of differences) console.log(`  ${difference}`);
  for (const { id, message } of through?.failures ?? [])
    console.log(`  ${id}: ${String(message).slice(0, MESSAGE_CHARS)}`);
}
