// The official SDKs as peers of Parley, in both roles, over every transport and in every revision that both know.
//
//   node tests/peers/run.mjs [--only TEXT] [--json FILE] [--write] [--jobs N]
//
// Every message that our side sends is also checked against the official schema of its revision, here and in recorded runs
// of the acceptance kit and the conformance suite. Without --write the matrix in docs/evidence/interop.md must be what this run gives;
// --write renews it. --only plays the cells whose name has the text.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeers } from './harness/install.mjs';

installPeers();
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean' },
    jobs: { type: 'string', default: String(Math.max(2, availableParallelism())) },
  },
});
const { runSuite } = await import('./harness/suite.mjs');
const { outcome, results } = await runSuite({ ...options, jobs: Number(options.jobs) });
if (options.json) writeFileSync(resolve(options.json), `${JSON.stringify(results, null, 2)}\n`);
process.exit(outcome);
