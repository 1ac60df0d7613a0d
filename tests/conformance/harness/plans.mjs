// What a leg runs for each revision, and what of it is known to fail.
import { loadBaseline, strayEntries } from './baseline.mjs';
import { planScenarios } from './scenarios.mjs';

export function plansFor(leg, { revisions, scenario }) {
  return Promise.all(
    revisions.map(async (revision) => ({
      leg,
      revision,
      single: scenario !== undefined,
      scenarios: await planScenarios(leg, revision, scenario),
      baseline: await loadBaseline(leg, revision),
    })),
  );
}

/** The same plan with one of its scenarios alone. */
export function onlyOf(plan, name) {
  return { ...plan, single: true, scenarios: plan.scenarios.filter((scenario) => scenario.name === name) };
}

/** A run of one scenario says nothing about the other entries. */
export function strays(plan) {
  return plan.single ? [] : strayEntries(plan);
}
