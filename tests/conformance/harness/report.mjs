// Prints the table and the failures. An expected failure still counts as a failure.
const MESSAGE_CHARS = 400;

export function totalsOf(rows) {
  const count = (...results) => rows.filter(({ result }) => results.includes(result)).length;
  return {
    passed: rows.filter(({ result, checks }) => result === 'passed' || (result === 'stale' && checks > 0)).length,
    failed: count('failed', 'expected'),
    skipped: count('skipped'),
    expected: count('expected'),
    stale: count('stale'),
    unexpected: count('failed', 'stale'),
  };
}

export function printReport(rows) {
  printTable(rows);
  for (const row of rows) printTrouble(row);
  const totals = totalsOf(rows);
  const { expected, stale } = totals;
  if (rows.length === 0) console.log('\nNo such scenario.');
  if (expected > 0) console.log(`\nExpected failures (listed in expected-failures-*.yaml): ${expected}`);
  if (stale > 0)
    console.log(`\nStale entries in expected-failures-*.yaml (passing, or never run), to be removed: ${stale}`);
  console.log('');
  return totals;
}

function printTable(rows) {
  const cells = rows.map(({ scenario, leg, revision, result, scored }) => {
    return [scenario, leg, revision, scored ? result : `${result} (unscored)`];
  });
  const all = [['scenario', 'side', 'revision', 'result'], ...cells];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  for (const row of all)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
}

function printTrouble({ scenario, leg, revision, result, failures }) {
  if (result !== 'failed') return;
  console.log(`\n${scenario} (${leg}, ${revision})`);
  for (const { id, name, status, message } of failures) {
    const label = name && name !== id ? `${id} / ${name}` : id;
    console.log(`  ${status} ${label}: ${String(message).slice(0, MESSAGE_CHARS)}`);
  }
}
