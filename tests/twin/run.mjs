// The twin: plays the same conversations directly with a server, through this build and through the last one that landed, and compares what both
// sides see, field by field.
//
//   npm run twin                              a sample, as .ci/run does
//   npm run twin -- --whole                   everything
//   npm run twin -- --seed N --size N         another sample
//   npm run twin -- --only TEXT               what has TEXT in its title, such as 'http → 2025-11-25 stdio: cancel'
//   npm run twin -- --build FOLDER            another build instead of this one
//   npm run twin -- --before COMMIT|none      another build to compare with
//   npm run twin -- --planted                 the planted faults (plant.mjs) and known bugs: each must be found; --write renews docs/evidence/twin.md
//   --tape                                    also prints every message of what is red
import { parseArgs } from 'node:util';
import { inLanes } from '../peers/diff/lanes.mjs';
import { buildAt, buildOfCommit, landedCommit, thisBuild } from './builds.mjs';
import { EXPECTED } from './expected.mjs';
import { References, judge } from './judge.mjs';
import { describe } from './report.mjs';
import { chosen, sample, whole } from './sample.mjs';

const { values: options } = parseArgs({
  options: {
    whole: { type: 'boolean' },
    seed: { type: 'string', default: '1' },
    size: { type: 'string', default: '100' },
    only: { type: 'string' },
    build: { type: 'string' },
    before: { type: 'string' },
    lanes: { type: 'string', default: '2' },
    planted: { type: 'boolean' },
    write: { type: 'boolean' },
    tape: { type: 'boolean' },
  },
});
const seed = Number(options.seed);
const build = options.build ? buildAt(options.build) : thisBuild();
const before = options.before === 'none' || options.build ? undefined : buildOfCommit(options.before ?? landedCommit());
const references = new References();
const totals = { passed: 0, failed: 0, skipped: 0, mended: 0 };
const used = new Set();

if (options.planted || options.write) {
  const { showFindings } = await import('./evidence.mjs');
  process.exit(await showFindings({ build, references, isWritten: options.write }));
}
const items = options.only ? chosen(options.only) : options.whole ? whole() : sample(seed, Number(options.size));
const started = Date.now();
console.log(`${items.length} conversations with ${build.name}${before ? ` and ${before.name}` : ''}, seed ${seed}`);
await inLanes(Number(options.lanes), items, async (item) => {
  const verdict = await judge(item, { build, before, references });
  for (const { entry } of verdict.excused) used.add(entry);
  if (verdict.mended) totals.mended++;
  if (verdict.faults.length === 0) return void totals.passed++;
  totals.failed++;
  console.log(`\n${describe(item, verdict, { seed })}`);
  if (options.tape && verdict.tape) printTape(verdict.tape);
});
if (options.whole) reportStale();
if (before) console.log(`\n${totals.mended} of them are red on ${before.name}.`);
console.log(`\n${Math.round((Date.now() - started) / 1000)} s`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);

function reportStale() {
  for (const { at, reason } of EXPECTED.filter((entry) => !entry.sometimes && !used.has(entry))) {
    totals.failed++;
    console.log(`\n✗ expected.mjs: nothing differs any more at ${at} (${reason})`);
  }
}

function printTape({ entries }) {
  for (const { seq, side, who, conn, way, event, tag, text = '' } of entries) {
    console.log(`  ${seq} ${side} ${who ?? conn ?? ''} ${way ?? event} ${tag ?? ''} ${text.slice(0, 400)}`);
  }
}
