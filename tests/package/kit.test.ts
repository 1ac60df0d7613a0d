// The acceptance kit is unchanged and passes its own tests.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, filesUnder, read } from '../helpers/files.ts';

const KIT = 'tests/acceptance/kit';
/** The origin of the kit, if it lies beside the project. */
const ORIGIN = '../shared/mission/acceptance';

describe('the acceptance kit', () => {
  it.skipIf(!existsSync(join(ROOT, ORIGIN)))('is unchanged', () => {
    const own = filesUnder(KIT).map((path) => posix.relative(KIT, path));
    const given = filesUnder(ORIGIN).map((path) => posix.relative(ORIGIN, path));
    expect(own).toEqual(given);
    const changed = own.filter(
      (path) => read(posix.join(KIT, path)) !== readFileSync(join(ROOT, ORIGIN, path), 'utf8'),
    );
    expect(changed).toEqual([]);
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
