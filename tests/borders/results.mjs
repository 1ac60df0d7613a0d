// How the tests ended that rows name: lines of the reporter in tests/helpers/results-file.ts for tests of vitest, and what the stages of
// .ci/run printed for scripts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `{ tests: file → [{ title, state }], printed: all that the stages printed }`. */
export function readResults(folder) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const textOf = (ending) =>
    names.filter((name) => name.endsWith(ending)).map((name) => readFileSync(join(folder, name), 'utf8'));
  const tests = new Map();
  for (const line of textOf('.jsonl').join('').split('\n').filter(Boolean)) {
    const { file, title, state } = JSON.parse(line);
    tests.set(file, [...(tests.get(file) ?? []), { title, state }]);
  }
  return { tests, printed: textOf('.log').join('\n') };
}

export function faultsOf(rows, results) {
  return rows.flatMap(({ from, finding, state, tests = [] }) => {
    if (state !== 'fixed') return [];
    return tests.flatMap((test) => faultOf(test, results).map((fault) => `${from}, ${finding}: ${fault}`));
  });
}

function faultOf({ file, title }, { tests, printed }) {
  if (!file.endsWith('.test.ts')) {
    return printed.includes(title) ? [] : [`${file} did not print "${title}"`];
  }
  const own = tests.get(file);
  if (!own) return [`${file} was not run`];
  const named = own.filter((test) => test.title === title || test.title.endsWith(` > ${title}`));
  if (named.length === 0) return [`${file} has no test "${title}"`];
  const odd = named.find((test) => test.state !== 'passed');
  return odd ? [`the test "${title}" in ${file} ended as ${odd.state}`] : [];
}
