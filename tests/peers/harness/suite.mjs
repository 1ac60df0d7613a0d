// Plays all cells, a few at a time, and tells what came out.
import { generateCells } from './cells.mjs';
import { compareMatrix, renewMatrix } from './document.mjs';
import { playCell } from './play.mjs';

export async function runSuite({ only, write, jobs }) {
  const cells = generateCells().filter(({ id }) => !only || id.includes(only));
  const results = await playAll(cells, jobs);
  const failed = results.filter(({ passed }) => !passed);
  let stale = false;
  if (!only) {
    if (write) renewMatrix(results);
    else stale = !compareMatrix(results);
  }
  summarize(results);
  console.log(`\n${results.length - failed.length} passed, ${failed.length + (stale ? 1 : 0)} failed, 0 skipped`);
  return { outcome: failed.length > 0 || stale || results.length === 0 ? 1 : 0, results };
}

async function playAll(cells, jobs) {
  const results = [];
  let next = 0;
  const work = async () => {
    while (next < cells.length) {
      const index = next++;
      const result = await playCell(cells[index]);
      results[index] = { ...cells[index], ...result };
      tell(results[index]);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}

function tell({ id, passed, played, skipped, checked, failures, ms }) {
  const counts = `${played.length} features, ${skipped.length} not there, ${checked} messages checked`;
  console.log(`${passed ? '✓' : '✗'} ${id.padEnd(48)} ${counts}, ${ms} ms`);
  for (const failure of failures) console.log(`    ${failure}`);
}

function summarize(results) {
  const checked = results.reduce((sum, result) => sum + result.checked, 0);
  const excused = {};
  for (const result of results) {
    for (const [name, count] of Object.entries(result.excused)) excused[name] = (excused[name] ?? 0) + count;
  }
  const listed = Object.entries(excused).map(([name, count]) => `${name} ${count}`);
  console.log(`\n${checked} messages of ours checked against the schemas; excused: ${listed.join(', ') || 'none'}`);
}
