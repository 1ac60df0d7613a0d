// Runs the check of every example and prints `N passed, N failed, N skipped`. Needs the built package: run
// `node scripts/ready.mjs` first. `node scripts/run-examples.mjs server` runs one.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Most take seconds; the one with the most processes takes a minute on a busy machine. */
const TIMEOUT_MS = 240_000;
/** Files for other programs; tests/package/deployment.test.ts and dashboards.test.ts check them, and tests/integration/container-files.test.ts. */
const WITHOUT_PROGRAM = ['claude-code-plugin', 'compose', 'kubernetes', 'observe'];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = process.argv.slice(2);
const names = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter(
    (entry) =>
      entry.isDirectory() &&
      !WITHOUT_PROGRAM.includes(entry.name) &&
      (wanted.length === 0 || wanted.includes(entry.name)),
  )
  .map((entry) => entry.name);

const failed = names.filter((name) => !check(name));
console.log(`\n${names.length - failed.length} passed, ${failed.length} failed, 0 skipped`);
if (failed.length > 0 || names.length === 0) process.exitCode = 1;

function check(name) {
  console.log(`examples/${name}`);
  const program = join(root, 'examples', name, 'check.mjs');
  if (!existsSync(program)) return complain(name, 'it has no check.mjs');
  const { status, signal } = spawnSync(process.execPath, [program], {
    cwd: root,
    stdio: 'inherit',
    timeout: TIMEOUT_MS,
  });
  if (status === 0) return true;
  return complain(name, signal ? `ended by ${signal}; a check has ${TIMEOUT_MS / 1000} s` : `exit status ${status}`);
}

function complain(name, reason) {
  console.error(`examples/${name} failed: ${reason}`);
  return false;
}
