// Runs before all tests of a project (`globalSetup` in vitest.config.ts): builds the package when it is missing or stale. Processes
// that tests start run what is built, since a start from the source takes ten times as long.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './files.ts';

export function setup(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'ready.mjs')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`scripts/ready.mjs failed:\n${stderr}`);
}
