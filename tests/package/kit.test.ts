// The acceptance kit is unchanged and passes its own tests.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, filesUnder, read } from '../helpers/files.ts';

const KIT = 'tests/acceptance/kit';
/** Of all its files, in order: their paths and contents. */
const DIGEST = '918fc880ffa0be6ebe796edebd4e1848dc5d9b27c69a474318be14cb32d5bd04';

describe('the acceptance kit', () => {
  it('the acceptance kit is unchanged', () => {
    const hash = createHash('sha256');
    for (const path of filesUnder(KIT)) hash.update(`${path}\n${read(path)}\n`);
    expect(hash.digest('hex')).toBe(DIGEST);
  });

  it('passes its own tests', () => {
    const { status, stdout } = spawnSync(process.execPath, ['--test', join(ROOT, KIT, 'selftest.mjs')], {
      encoding: 'utf8',
      timeout: 110_000,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    expect(status, stdout).toBe(0);
  });
});
