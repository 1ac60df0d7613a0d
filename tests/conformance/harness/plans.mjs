// Lists what a leg runs for each revision, and its known failures.
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

/** The plan with only one of its scenarios. */
export function onlyOf(plan, name) {
  return { ...plan, single: true, scenarios: plan.scenarios.filter((scenario) => scenario.name === name) };
}

/** A run of one scenario says nothing about the other entries. */
export function strays(plan) {
  return plan.single ? [] : strayEntries(plan);
}
