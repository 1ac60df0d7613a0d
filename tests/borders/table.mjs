// Rows as a table, in the order of their pages and sections.
const PAGES = ['repeats', 'flows', 'gateway', 'newcomer', 'security', 'seeds', 'extensions', 'speed', 'issue'];

/** `earlier` says how tests ended on an older commit, by file and title. */
export function toTable(rows, earlier) {
  const sorted = rows.toSorted((one, other) => compare(one.finding, other.finding));
  const count = (state) => rows.filter((row) => row.state === state).length;
  const head = ['finding', 'what was wrong', 'shown with', 'tests', ...(earlier ? ['before'] : []), 'state'];
  const lines = sorted.map((row) =>
    [
      row.finding,
      row.says,
      row.peer ?? '–',
      testsOf(row),
      ...(earlier ? [beforeOf(row, earlier)] : []),
      stateOf(row),
    ].map(escape),
  );
  return [
    `${rows.length} findings: ${count('fixed')} fixed, ${count('declined')} declined, ${count('open')} open.`,
    [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n'),
  ].join('\n\n');
}

export function endedBefore({ file, title }, earlier) {
  return earlier.get(`${file} > ${title}`);
}

function beforeOf({ state, tests = [], before }, earlier) {
  if (state !== 'fixed') return '–';
  const failed = tests.filter((test) => endedBefore(test, earlier) === 'failed').length;
  return before ?? `${failed} of ${tests.length} failed`;
}

function testsOf({ tests = [] }) {
  return [...group(tests)]
    .map(([file, own]) => `\`${file}\`: ${own.map(({ title }) => title).join('; ')}`)
    .join('<br>');
}

function group(tests) {
  const byFile = new Map();
  for (const test of tests) byFile.set(test.file, [...(byFile.get(test.file) ?? []), test]);
  return byFile;
}

function stateOf({ state, decision }) {
  return decision ? `${state}: decision ${Number(decision.slice(0, 4))}` : state;
}

function compare(one, other) {
  const pages = [one, other].map((finding) => PAGES.indexOf(finding.split(' ')[0]));
  return pages[0] - pages[1] || one.localeCompare(other, 'en', { numeric: true });
}

function escape(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
