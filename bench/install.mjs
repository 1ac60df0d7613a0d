// Brings the peers in, as scripts/ready.mjs does for the project itself: only when missing or older than the lock.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = new URL('.', import.meta.url);

export function installPeers() {
  if (!isStale()) return;
  process.stderr.write('bench: installing the peers (npm ci) …\n');
  const onWindows = process.platform === 'win32';
  const npm = onWindows ? 'npm.cmd' : 'npm';
  const { status } = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: fileURLToPath(here),
    stdio: ['ignore', 2, 2],
    shell: onWindows,
  });
  if (status !== 0) process.stderr.write('bench: npm ci failed; the peers will be skipped.\n');
}

/** Changes when anything in dist/ does. */
export function buildStamp() {
  const dist = fileURLToPath(new URL('../dist/', here));
  if (!existsSync(dist)) return 0;
  const files = readdirSync(dist, { recursive: true });
  return files.reduce((newest, file) => Math.max(newest, statSync(join(dist, file)).mtimeMs), 0);
}

function isStale() {
  const installed = new URL('node_modules/.package-lock.json', here);
  return !existsSync(installed) || statSync(new URL('package-lock.json', here)).mtimeMs > statSync(installed).mtimeMs;
}
