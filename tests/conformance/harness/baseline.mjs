// Expected failures, and what a scenario's checks come to in their light. The rules are the suite's (a WARNING fails too,
// a listed entry that passes is stale); they are applied here again because under --requirements the suite applies them
// to the scored scenarios alone, and the unscored ones matter to us as much.
import { readFile } from 'node:fs/promises';
import { baselineFile } from './paths.mjs';

/** Scenario name → `true` for the whole scenario, or the set of check ids that may fail. */
export async function loadBaseline(leg, revision) {
  const { parse } = await import('yaml');
  const listed = parse(await readFile(baselineFile(revision), 'utf8'))?.[leg] ?? [];
  const baseline = new Map();
  for (const entry of listed) {
    const [scenario, check] = String(entry).split(/:(.*)/s, 2);
    if (check === undefined) baseline.set(scenario, true);
    else baseline.set(scenario, new Set([...(baseline.get(scenario) ?? []), check]));
  }
  return baseline;
}

/** `passed`, `skipped`, `failed` (not expected), `expected` (failed as listed) or `stale` (listed, but passes). */
export function judge(checks, expected) {
  const failures = checks.filter(hasFailed);
  const outcome = { checks: checks.length, failures: failures.map(brief), found: findings(checks) };
  if (expected === true) return { ...outcome, result: failures.length > 0 ? 'expected' : 'stale' };
  if (failures.some(({ id }) => !expected?.has(id))) return { ...outcome, result: 'failed' };
  const stale = [...(expected ?? [])].filter((id) => isProven(checks, id));
  if (stale.length > 0) return { ...outcome, result: 'stale', stale };
  if (failures.length > 0) return { ...outcome, result: 'expected' };
  return { ...outcome, result: checks.some(isSubstance) ? 'passed' : 'skipped' };
}

/** Entries for scenarios that this revision does not have, or that we do not run: nobody would notice them otherwise. */
export function strayEntries({ leg, revision, scenarios, baseline }) {
  const known = new Set(scenarios.map(({ name }) => name));
  const stray = [...baseline.keys()].filter((name) => !known.has(name));
  return stray.map((scenario) => ({
    scenario,
    leg,
    revision,
    scored: false,
    result: 'stale',
    checks: 0,
    failures: [],
  }));
}

/** What was found, check by check, without how often: for comparing two runs. */
function findings(checks) {
  return [...new Set(checks.map(({ id, status }) => `${id} ${status}`))].toSorted((one, other) =>
    one < other ? -1 : 1,
  );
}

function hasFailed({ status }) {
  return status === 'FAILURE' || status === 'WARNING';
}

function isProven(checks, id) {
  const own = checks.filter((check) => check.id === id);
  return own.some(({ status }) => status === 'SUCCESS') && !own.some(hasFailed);
}

/** The check of message shapes passes even when a scenario found nothing to test. */
function isSubstance({ id, status }) {
  return status === 'SUCCESS' && id !== 'wire-schema-valid';
}

function brief({ id, name, status, errorMessage, description }) {
  return { id, name, status, message: errorMessage ?? description };
}
