// Runs the self-test of the conformance comparison; it does not need the suite.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/files.ts';

it('the comparison of conformance runs can fail', () => {
  const selftest = join(ROOT, 'tests', 'conformance', 'harness', 'selftest.mjs');
  const { status, stdout } = spawnSync(process.execPath, ['--test', selftest], {
    encoding: 'utf8',
    timeout: 110_000,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(status, stdout).toBe(0);
});
