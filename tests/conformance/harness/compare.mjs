// Compares two runs of the same scenario: they are equal if every check has the same result.
import { EXPECTED_DIFFERENCES } from '../expected-differences.mjs';

/** One scenario: its direct result, and the result through each gateway. */
export function toRow(direct, runs, known = EXPECTED_DIFFERENCES) {
  const { scenario, revision, scored } = direct;
  const cells = runs.map(({ upstream, server, rows }) => {
    const through = rows.find((row) => row.scenario === scenario && row.revision === revision);
    // One that was looked at again has a direct run of its own.
    const differences = through ? differencesOf(through.beside ?? direct, through) : ['it was not run'];
    const expected = known.find((entry) => fits(entry, { scenario, client: revision, server, upstream }));
    return { upstream, server, through, differences, expected, result: judge(differences, expected) };
  });
  return { scenario, revision, scored, direct, cells };
}

/** Whether a result through a gateway differs unexpectedly from the direct one. */
export function differs(row, directRows, { upstream, server }) {
  const direct = directRows.find((one) => one.scenario === row.scenario && one.revision === row.revision);
  if (!direct) return false;
  return toRow(direct, [{ upstream, server, rows: [row] }]).cells[0].result === 'different';
}

/** `same`, `expected` (different, as listed) or `different`. */
function judge(differences, expected) {
  if (differences.length === 0) return 'same';
  return expected ? 'expected' : 'different';
}

/** `all`: everything was run, so an entry that was not needed is stale. */
export function compareRuns(rows, { all, known = EXPECTED_DIFFERENCES }) {
  const cells = rows.flatMap((row) => row.cells);
  const count = (result) => cells.filter((cell) => cell.result === result).length;
  const used = new Set(cells.filter(({ result }) => result === 'expected').map(({ expected }) => expected));
  return {
    passed: count('same'),
    failed: count('different'),
    skipped: count('expected'),
    stale: all ? known.filter((entry) => !used.has(entry) && !entry.mayBeSame) : [],
  };
}

function differencesOf(direct, through) {
  const lost = direct.found?.filter((finding) => !through.found?.includes(finding)) ?? ['no result directly'];
  const gained = through.found?.filter((finding) => !direct.found?.includes(finding)) ?? ['no result'];
  return [...lost.map((finding) => `- ${finding}`), ...gained.map((finding) => `+ ${finding}`)];
}

function fits(entry, cell) {
  if (cell.server === 'SDK v2' && entry.server !== 'SDK v2') return false;
  return ['scenario', 'client', 'server', 'upstream'].every(
    (key) => entry[key] === undefined || entry[key] === cell[key],
  );
}
