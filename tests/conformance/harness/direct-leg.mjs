// The server scenarios of every revision against one server under test: that one endpoint serves both eras is part of what is
// tested.
import { RESULTS } from './paths.mjs';
import { runServerScenarios } from './server-leg.mjs';
import { startSut } from './sut.mjs';

/** The fixture, without anything between. */
export const DIRECT = 'node tests/acceptance/fixture.mjs conformance --port {port}';

/** The same offered by a server of SDK v2. */
export const SDK_DIRECT = 'node tests/peers/conformance/serve.mjs --port {port}';

export async function runDirectly(plans, command, folder = RESULTS) {
  if (plans.every(({ scenarios }) => scenarios.length === 0)) return [];
  const sut = await startSut(command, folder);
  try {
    return await runPlans(plans, sut.url, folder);
  } finally {
    await sut.stop();
  }
}

export async function runPlans(plans, url, folder) {
  const rows = [];
  for (const plan of plans) rows.push(...(await runServerScenarios(plan, url, folder)));
  return rows;
}
