// Runs all cells, a few at a time, and reports the results.
import { checkSuite, RECORDED_SUITES } from '../../schemas/recorded-runs.mjs';
import { generateCells } from './cells.mjs';
import { compareMatrix, renewMatrix } from './document.mjs';
import { judge, playCell } from './play.mjs';

export async function runSuite({ only, write, jobs }) {
  const cells = generateCells().filter(({ id }) => !only || id.includes(only));
  const played = await playAll(cells, jobs);
  const results = [...played, ...(await checkRecorded(only))];
  const failed = results.filter(({ passed }) => !passed);
  let stale = false;
  if (!only) {
    if (write) renewMatrix(played);
    else stale = !compareMatrix(played);
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

/** Other suites, one at a time: some of them measure time. */
async function checkRecorded(only) {
  const results = [];
  for (const name of RECORDED_SUITES.filter((name) => !only || `recorded/${name}`.includes(only))) {
    const started = Date.now();
    const report = { failures: [], skipped: [], played: [] };
    judge(await checkSuite(name), report);
    const result = {
      id: `recorded/${name}`,
      ...report,
      passed: report.failures.length === 0,
      ms: Date.now() - started,
    };
    results.push(result);
    tell(result);
  }
  return results;
}

function tell({ id, passed, played, skipped, checked, failures, ms }) {
  const features = played.length > 0 ? `${played.length} features, ${skipped.length} not there, ` : '';
  const counts = `${features}${checked} messages checked`;
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
