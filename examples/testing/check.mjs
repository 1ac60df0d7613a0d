// Runs the tests as their author would, and exits non-zero when one fails.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const tests = fileURLToPath(new URL('shout.test.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', tests], { stdio: 'inherit' });
process.exitCode = status ?? 1;
