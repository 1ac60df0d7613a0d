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

/** The authorization of 2025-03-26, which the suite has scenarios for but no set of requirements. */
export async function backCompatPlans({ isPart, scenario }) {
  const names = ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'];
  const wanted = names.filter((name) => (isPart ? name === scenario : true));
  const revision = '2025-03-26';
  const scenarios = wanted.map((name) => ({ name, scored: false }));
  return [{ leg: 'client', revision, single: isPart, scenarios, baseline: await loadBaseline('client', revision) }];
}

/** The client scenarios that are played through the gateway: all about authorization. */
export function authorizationOf(plan) {
  const scenarios = plan.scenarios.filter(({ name }) => name.startsWith('auth/'));
  return { ...plan, leg: 'gateway', scenarios };
}

/** The plan with only one of its scenarios. */
export function onlyOf(plan, name) {
  return { ...plan, single: true, scenarios: plan.scenarios.filter((scenario) => scenario.name === name) };
}

/** A run of one scenario says nothing about the other entries. */
export function strays(plan) {
  return plan.single ? [] : strayEntries(plan);
}
