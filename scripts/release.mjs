// Publishes the package from CI, with provenance: npm then shows which commit and which run it was built from. Anywhere else it only says what it would do.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const SBOM = `${name}-${version}.cdx.json`;
const steps = [
  { command: 'git', args: ['diff', '--quiet', 'HEAD'] },
  { command: '.ci/run', args: [] },
  { command: 'node', args: ['scripts/supply.mjs', '--sbom', SBOM] },
  { command: 'npm', args: ['publish', '--provenance', '--access', 'public'] },
];

const canProve = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined;
if (!readFileSync('CHANGELOG.md', 'utf8').includes(`## ${version}`)) fail(`CHANGELOG.md has no part for ${version}.`);
for (const { command, args } of steps) {
  const line = [command, ...args].join(' ');
  if (!canProve) console.log(`would run: ${line}`);
  else if (spawnSync(command, args, { stdio: 'inherit' }).status !== 0) fail(`failed: ${line}`);
}
if (!canProve) console.log('Nothing was run: provenance needs the id token of a CI job.');

function fail(reason) {
  console.error(reason);
  process.exit(1);
}
