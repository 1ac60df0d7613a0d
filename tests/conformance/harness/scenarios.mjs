// Which scenarios belong to a revision: the suite's own requirement set, the scored and the unscored ones alike.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SUITE } from './paths.mjs';

export const REVISIONS = ['2025-11-25', '2026-07-28'];

/** A named scenario is run for each revision that has it. */
export async function planScenarios(leg, revision, only) {
  const all = await requirementsOf(leg, revision);
  return only === undefined ? all : all.filter(({ name }) => name === only);
}

export async function requirementsOf(leg, revision) {
  const { parse } = await import('yaml');
  const set = parse(await readFile(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'));
  const unscored = (set.not_scored ?? []).filter((entry) => entry.leg === leg);
  return [
    ...set[leg].map((name) => ({ name, scored: true })),
    ...unscored.map(({ scenario, reason }) => ({ name: scenario, scored: false, reason })),
  ];
}
