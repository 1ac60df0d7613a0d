// Plays each flow with `parley run`, then as a client that shows forms and as one that cannot be asked: the result is the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { exploreFile } from 'mcp-parley/flow';
import { testFlow } from 'mcp-parley/testing';
import { deploy } from './deploy.mjs';
import { importTable } from './import.mjs';
import { register } from './register.mjs';
import { survey } from './survey.mjs';
import { trip } from './trip.mjs';

const FLOWS = { trip, register, deploy, import: importTable, survey };
const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

for (const [name, flow] of Object.entries(FLOWS)) {
  const answers = here(`answers/${name}.json`);
  const args = [parley, 'run', here(`${name}.mjs`), '--answers', answers, '--json'];
  const run = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  console.log(`${name}: ${JSON.stringify(run)}`);
  const explored = await exploreFile(new URL(`${name}.mjs`, import.meta.url));
  for (const kind of ['form', 'page']) {
    const played = await testFlow(flow)
      .asClient(kind, { explored })
      .answer(JSON.parse(readFileSync(answers, 'utf8')));
    assert.deepEqual(played.result, run);
  }
}
