// Shows that the twin finds what it is for: ten planted faults, and the bugs of an older build that are named in findings.
import { judge } from './judge.mjs';
import { PLANTED, plant, uproot } from './plant.mjs';
import { describe } from './report.mjs';
import { titled } from './sample.mjs';

/** Bugs of the second round that e5ee2753 has, and a conversation that each of them breaks. */
export const KNOWN = [
  {
    name: 'repeats 1, the request',
    only: '2025-11-25 stdio → 2025-11-25 http: 403 with more scopes and a login at tools/call',
  },
  {
    name: 'repeats 1, the cancel',
    only: '2025-11-25 stdio → 2025-11-25 http: 401 and a cancel while the login page is open',
  },
  {
    name: 'repeats 2',
    only: '2025-11-25 http → 2025-11-25 stdio: with the step timeout: cancel while tools/call runs',
  },
  { name: 'repeats 3', only: '2025-11-25 http → 2025-11-25 stdio: cancel with an open question' },
  {
    name: 'repeats 5 (a)',
    only: '2025-11-25 http → 2025-11-25 http: a subscription that is refused while another client subscribes',
  },
  {
    name: 'repeats 5 (b)',
    only: '2025-11-25 http → 2025-11-25 http: an unsubscribe while the subscription is refused, and another subscriber',
  },
  { name: 'repeats 7', only: '2025-11-25 http → 2025-11-25 http: a late answer of a lost session' },
];

/** `{ name, title, isGreen, isRed, finding }` for each planted fault: green without it, red with it. */
export async function tryPlanted(build, references) {
  const rows = [];
  for (const fault of PLANTED) {
    const item = titled(fault.only);
    const without = await judge(item, { build, references });
    const planted = plant(fault, build.dist);
    const verdict = await judge(item, { build: planted, references });
    uproot(planted);
    rows.push(toRow(fault, { without, verdict, item }));
  }
  return rows;
}

/** The same for a build that has them and one that should not. */
export async function tryKnown(build, old, references) {
  const rows = [];
  for (const bug of KNOWN) {
    const item = titled(bug.only);
    const without = await judge(item, { build, references });
    rows.push(toRow(bug, { without, verdict: await judge(item, { build: old, references, deadlineMs: 8000 }), item }));
  }
  return rows;
}

function toRow({ name }, { without, verdict, item }) {
  // What is red anyway is not what was looked for.
  const usual = new Set(without.faults.map(keyOf));
  // A build that does not run has not shown the fault, whatever else is missing then.
  const runs = !verdict.faults.some(({ broke }) => broke?.includes('the gateway ended'));
  const first = runs ? verdict.faults.find((fault) => !usual.has(keyOf(fault))) : undefined;
  return {
    name,
    item,
    isGreen: without.faults.length === 0,
    isRed: first !== undefined,
    finding:
      first &&
      describe(item, { faults: [first] }, {})
        .split('\n')
        .slice(1, -1)
        .map((line) => line.trim()),
    without,
  };
}

function keyOf({ at, rule, broke }) {
  return at ?? (rule ?? broke).slice(0, 40);
}
