// Serializes work on a file across processes, also of several machines or containers that share its folder. If the lock cannot be had in time,
// the work is not done. Invariants:
// 1. A lock names its holder from the moment on that it exists: it is a symbolic link whose target is the name.
// 2. A lock whose process has died is removed by those who wait for it, one at a time: they take a lock of their own for that, named after the
//    dead holder. No holder comes back under the same name, so nobody removes a lock that was taken since.
import { mkdirSync } from 'node:fs';
import type * as Files from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, ticksOf } from '../base/clock.ts';
import { randomId } from '../crypto/ids.ts';
import { createLeaseHolder, identifyProcess } from './lease-holder.ts';
import type { LeaseHolder } from './lease-holder.ts';

interface FileLockOptions {
  /** The lock file. Its folder is made if it is missing. */
  path: string;
  /** How long to wait for another process. */
  waitMs: number;
  /** The error if that was too long. */
  onLate: () => Error;
}

const POLL_MS = 20;
/** No work takes this long, so its process has died, though another one may have its number now. */
const DEAD_MS = 120_000;

let found: LeaseHolder | undefined;

// `wrap` loads this file before its first answer, and these two parts of Node take milliseconds (in Node 24 the first one loads the second).
const files = (): typeof Files => process.getBuiltinModule('node:fs/promises');
const hostName = (): string => process.getBuiltinModule('node:os').hostname();

/** A process of another machine is never judged by its number here. */
function thisProcess(): LeaseHolder {
  return (found ??= createLeaseHolder(identifyProcess() ?? { space: hostName(), pid: process.pid, start: '' }));
}

export async function withFileLock<T>({ path, waitMs, onLate }: FileLockOptions, work: () => Promise<T>): Promise<T> {
  const until = ticksOf(systemClock) + waitMs;
  const holder = thisProcess().marked(randomId());
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await take(path, holder))) {
    if (ticksOf(systemClock) > until) throw onLate();
    await removeDead(path, holder);
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await release(path, holder);
  }
}

/** False if another process, or another call of this one, has it. */
async function take(path: string, holder: string): Promise<boolean> {
  const { symlink, writeFile } = files();
  try {
    await symlink(holder, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw error;
      return writeFile(path, holder, { mode: 0o600, flag: 'wx' }); // a file system without links
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function release(path: string, holder: string): Promise<void> {
  if ((await holderOf(path)) === holder) await files().rm(path, { force: true });
}

async function removeDead(path: string, holder: string): Promise<void> {
  const dead = await holderOf(path);
  if (dead === '' || !(thisProcess().isDead(dead) || (await isOld(path)))) return;
  const removing = `${path}-${dead.split(' ', 1)[0]}`;
  if (!(await take(removing, holder))) return removeDead(removing, holder); // it may have died over it
  try {
    await release(path, dead);
  } finally {
    await release(removing, holder);
  }
}

/** Empty if there is no lock. */
function holderOf(path: string): Promise<string> {
  const { readlink, readFile } = files();
  return readlink(path).catch(() => readFile(path, 'utf8').catch(() => ''));
}

async function isOld(path: string): Promise<boolean> {
  const { mtimeMs } = await files()
    .lstat(path)
    .catch(() => ({ mtimeMs: Infinity }));
  return systemClock.now() - mtimeMs > DEAD_MS;
}
