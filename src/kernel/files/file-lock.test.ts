import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFileLock } from './file-lock.ts';
import { createLeaseHolder, identifyProcess } from './lease-holder.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-lock-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const late = (): Error => new Error('late');
const here = identifyProcess();

/** How a process that has died names itself in its lock. */
function deadHolder(name: string, place: Partial<NonNullable<typeof here>> = {}): string {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return createLeaseHolder({ ...here!, pid, start: '1', ...place }).marked(name);
}

/** Works with the lock `times` times at once; returns how many held it together at most. */
async function together(path: string, times: number): Promise<number> {
  let [inside, most] = [0, 0];
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
  };
  await Promise.all(Array.from({ length: times }, () => withFileLock({ path, waitMs: 60_000, onLate: late }, work)));
  return most;
}

describe.skipIf(!here)('a lock file', () => {
  it('a lock file is held by one at a time, and is gone afterwards', async () => {
    expect(await together(join(folder, 'new', 'lock'), 20)).toBe(1);
    expect(readdirSync(join(folder, 'new'))).toEqual([]);
  });

  it('a lock file of a process that has died is removed, and so is that of one that died while it removed it', async () => {
    const path = join(folder, 'lock');
    symlinkSync(deadHolder('one'), path);
    symlinkSync(deadHolder('two'), `${path}-one`);
    symlinkSync(deadHolder('three'), `${path}-one-two`);
    expect(await together(path, 20)).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a lock file of a process that lives, or of another machine, is waited for', async () => {
    const path = join(folder, 'lock');
    for (const holder of [
      createLeaseHolder({ ...here!, pid: process.ppid, start: '1' }).marked('alive'),
      deadHolder('elsewhere', { space: 'another-machine' }),
      'of another version',
    ]) {
      symlinkSync(holder, path);
      await expect(withFileLock({ path, waitMs: 60, onLate: late }, async () => 1)).rejects.toThrow('late');
      rmSync(path);
    }
  });

  it('a lock file that is far too old is removed, whatever its holder is; a file as older versions write it, too', async () => {
    const path = join(folder, 'lock');
    writeFileSync(path, '1');
    utimesSync(path, 1, 1);
    expect(await together(path, 5)).toBe(1);
  });
});
