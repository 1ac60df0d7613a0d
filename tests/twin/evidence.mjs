// The record of what the twin finds: docs/evidence/twin.md, written by a run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT, buildOfCommit } from './builds.mjs';
import { CELLS } from './cells.mjs';
import { EXPECTED } from './expected.mjs';
import { tryKnown, tryPlanted } from './planted.mjs';
import { describe } from './report.mjs';
import { titleOf, whole } from './sample.mjs';

/** The commit whose bugs are known. */
const OLD = 'e5ee2753';

/** Returns the exit status. */
export async function showFindings({ build, references, isWritten }) {
  const planted = await tryPlanted(build, references);
  show('planted', planted);
  const old = buildOfCommit(OLD);
  const known = old ? await tryKnown(build, old, references) : [];
  show(`found on ${OLD}`, known);
  if (isWritten) write({ planted, known });
  const rows = [...planted, ...known];
  const failed = rows.filter(({ isGreen, isRed }) => !isGreen || !isRed).length;
  console.log(`\n${rows.length - failed} passed, ${failed} failed, ${old ? 0 : 1} skipped`);
  return failed > 0 ? 1 : 0;
}

function show(what, rows) {
  for (const { name, item, isGreen, isRed, finding, without } of rows) {
    console.log(
      `${isRed && isGreen ? '✓' : '✗'} ${what}: ${name}: ${isRed ? 'red' : 'NOT FOUND'}${isGreen ? '' : ', but red without it'}`,
    );
    if (finding) console.log(finding.map((line) => `    ${line.slice(0, 200)}`).join('\n'));
    if (!isGreen) console.log(describe(item, without, {}));
  }
}

function write({ planted, known }) {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).stdout.trim();
  const page = [
    '# What the twin finds',
    '',
    `Written by \`npm run twin -- --planted --write\` on ${commit}. \`npm run twin\` plays the same conversations directly with a server and through builds of the gateway, and compares every message on both sides (\`tests/twin/README.md\`).`,
    `Today it has ${whole().length} conversations in ${CELLS.length} cells of revision and transport on either side, and ${EXPECTED.length} listed differences.`,
    '',
    '## Planted faults',
    '',
    'Each is put into a copy of the build by `tests/twin/plant.mjs`. The conversation is green without it and red with it.',
    '',
    ...table('fault', planted),
    '',
    `## Bugs of ${OLD}`,
    '',
    `The numbers are those of the findings. The conversation is red on ${OLD} and green on this build.`,
    '',
    ...table('bug', known),
    '',
    '## Differences that are meant',
    '',
    '| where | why |',
    '|---|---|',
    ...EXPECTED.map(
      ({ at, conversation, reason }) =>
        `| \`${cell(`${conversation ? `${conversation.source}: ` : ''}${at.source}`)}\` | ${reason} |`,
    ),
    '',
  ].join('\n');
  mkdirSync(join(ROOT, 'docs', 'evidence'), { recursive: true });
  writeFileSync(join(ROOT, 'docs', 'evidence', 'twin.md'), page);
}

function table(what, rows) {
  return [
    `| ${what} | conversation | without | with | first finding |`,
    '|---|---|---|---|---|',
    ...rows.map(
      ({ name, item, isGreen, isRed, finding = [] }) =>
        `| ${name} | ${titleOf(item)} | ${isGreen ? 'green' : 'RED'} | ${isRed ? 'red' : 'NOT FOUND'} | \`${cell(finding.join(' ').slice(0, 160))}\` |`,
    ),
  ];
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('`', "'");
}
