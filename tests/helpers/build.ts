// Builds the package if it is missing or stale, before all tests of a project (`globalSetup` in vitest.config.ts).
// Processes in tests run the build, because starting from source takes ten times as long.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './files.ts';

export function setup(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'ready.mjs')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`scripts/ready.mjs failed:\n${stderr}`);
}
