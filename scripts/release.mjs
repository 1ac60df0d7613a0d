// Publishes the package from CI, with provenance: npm then shows which commit and which run it was built from. Anywhere else it is a rehearsal: everything is done but
// `.ci/run` and the upload.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const isReal = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined;
const sbom = join(isReal ? '.' : tmpdir(), `${name}-${version}.cdx.json`);
const proof = isReal ? ['--provenance'] : ['--dry-run']; // provenance needs the id token of a CI job

const changes = readFileSync('CHANGELOG.md', 'utf8');
const unreleased = /^## Unreleased\n+([^]*?)(?=^## |$(?![^]))/m.exec(changes)?.[1]?.trim() ?? '';
if (!changes.includes(`## ${version}`)) fail(`CHANGELOG.md has no part for ${version}.`);
if (unreleased !== '') demand(`CHANGELOG.md has changes that are not in the part for ${version}.`);
if (spawnSync('git', ['diff', '--quiet', 'HEAD']).status !== 0) demand('There are changes that are not committed.');
if (isReal) run('.ci/run', []);
else console.log('not run here: .ci/run');
run('npm', ['run', 'build']);
run('node', ['scripts/supply.mjs', '--sbom', sbom]);
run('npm', ['publish', '--access', 'public', ...proof]);
if (!isReal) console.log(`Rehearsed: nothing was published. The bill of materials is ${sbom}.`);

function run(command, args) {
  console.log(`running: ${[command, ...args].join(' ')}`);
  if (spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' }).status !== 0)
    fail(`failed: ${[command, ...args].join(' ')}`);
}

/** Must be so for a release. */
function demand(reason) {
  if (isReal) fail(reason);
  console.log(`would stop a release: ${reason}`);
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}
