// The suite has an install of its own, so that the project's stays small; fetched when missing or not the locked version.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HERE, SUITE } from './paths.mjs';

export function installSuite() {
  const wanted = version(join(HERE, 'package-lock.json'), (lock) => {
    return lock.packages['node_modules/@modelcontextprotocol/conformance'].version;
  });
  const present = version(join(SUITE, 'package.json'), (manifest) => manifest.version);
  if (present === wanted) return;
  process.stderr.write(`conformance: installing the suite ${wanted} (npm ci) …\n`);
  // One of its dependencies asks for Node 22 and works without; npm would only warn.
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: HERE,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm ci in ${HERE} failed`);
}

function version(file, pick) {
  return existsSync(file) ? pick(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}
