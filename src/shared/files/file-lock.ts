// Serializes work on a file across processes, also of several machines or containers that share its folder. A lock file belongs to a process,
// and one whose process has died is removed. If the lock cannot be had in time, the work is not done.
import { mkdirSync } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, ticksOf } from '../clock.ts';
import { randomId } from '../crypto/ids.ts';
import { createLeaseHolder, identifyProcess } from './lease-holder.ts';
import type { LeaseHolder } from './lease-holder.ts';

export interface FileLockOptions {
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

/** A process of another machine is never judged by its number here. */
function thisProcess(): LeaseHolder {
  found ??= createLeaseHolder(identifyProcess() ?? { space: hostname(), pid: process.pid, start: '' });
  return found;
}

export async function withFileLock<T>({ path, waitMs, onLate }: FileLockOptions, work: () => Promise<T>): Promise<T> {
  const until = ticksOf(systemClock) + waitMs;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await take(path))) {
    if (ticksOf(systemClock) > until) throw onLate();
    await removeDead(path);
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** False if another process, or another call of this one, has it. */
async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(thisProcess().marked('lock'));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moved away first, so that of two processes only one removes it, and none removes a lock that was taken since. */
async function removeDead(path: string): Promise<void> {
  const holder = await readFile(path, 'utf8').catch(() => '');
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
  const isOld = systemClock.now() - mtimeMs > DEAD_MS;
  if (!isOld && !thisProcess().isDead(holder)) return;
  const aside = `${path}-${randomId()}`;
  try {
    await rename(path, aside);
    const moved = await readFile(aside, 'utf8');
    if (moved === holder) await rm(aside, { force: true });
    else await rename(aside, path);
  } catch {
    // another process was faster
  }
}
