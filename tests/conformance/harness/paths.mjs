// Paths of the harness. Imports nothing from node_modules, so that it works before the suite is installed.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const HERE = dirname(dirname(fileURLToPath(import.meta.url)));
export const ROOT = dirname(dirname(HERE));
/** The variable allows two runs at once in one checkout. */
export const RESULTS = process.env.PARLEY_CONFORMANCE_RESULTS ?? join(HERE, 'results');
export const SUITE = join(HERE, 'node_modules', '@modelcontextprotocol', 'conformance');
export const CLIENT = join(HERE, 'client.mjs');
export const GATEWAY_CLIENT = join(HERE, 'gateway-client.mjs');

export function baselineFile(revision) {
  return join(HERE, `expected-failures-${revision}.yaml`);
}
