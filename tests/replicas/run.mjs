// The suites through several gateways that serve as one, behind a proxy that sends each request to the next of them, compared with the same through
// one. Scenario by scenario: equal means that every check came out the same.
//
//   node tests/replicas/run.mjs [--replicas 3] [--only kit,conformance,twin] [--sample] [--size N] [--write]
//
// --sample: a few of each, as .ci/run does. --size: so many conversations of the twin; all of them without it. --write renews the table in
// docs/evidence/cluster.md. Non-zero if anything differs and expected.mjs does not say why.
import { parseArgs } from 'node:util';
import { renewBlock } from '../peers/harness/page-block.mjs';
import { compareConformance } from './compare-conformance.mjs';
import { compareKit } from './compare-kit.mjs';
import { compareTwin } from './compare-twin.mjs';

const { values: options } = parseArgs({
  options: {
    replicas: { type: 'string', default: '3' },
    only: { type: 'string' },
    sample: { type: 'boolean' },
    size: { type: 'string' },
    write: { type: 'boolean' },
  },
});
const SUITES = { kit: compareKit, conformance: compareConformance, twin: compareTwin };
const chosen = options.only?.split(',') ?? Object.keys(SUITES);
const how = { replicas: Number(options.replicas), isSample: options.sample === true, size: Number(options.size) };

/** `{ suite, scenarios, same, expected: [{ name, reason }], different: [{ name, what }], isSample }`, of each suite and transport. */
const rows = [];
for (const name of chosen) rows.push(...(await SUITES[name](how)));
for (const { suite, different } of rows)
  for (const { name, what } of different) console.log(`\n✗ ${suite}: ${name}\n${what.replace(/^/gm, '    ')}`);
const table = toTable(rows);
console.log(`\n${table}`);
if (options.write) renewBlock('evidence/cluster.md', 'suites', table);
const sum = (count) => rows.reduce((total, row) => total + count(row), 0);
const failed = sum(({ different }) => different.length);
console.log(`\n${sum(({ same }) => same)} passed, ${failed} failed, ${sum(({ expected }) => expected.length)} skipped`);
process.exit(failed > 0 || rows.length === 0 ? 1 : 0);

function toTable(all) {
  const lines = all.map(({ suite, scenarios, same, expected, different }) =>
    [suite, scenarios, same, expected.length, different.length].join(' | '),
  );
  const reasons = [...new Set(all.flatMap(({ expected }) => expected.map(({ reason }) => reason)))];
  return [
    `| suite | scenarios | the same | different, as listed | different |`,
    '|---|---|---|---|---|',
    ...lines.map((line) => `| ${line} |`),
    ...(reasons.length > 0 ? ['', 'Listed:', '', ...reasons.map((reason) => `- ${reason}`)] : []),
  ].join('\n');
}
