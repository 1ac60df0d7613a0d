// Serializes work on a file across processes, also of several machines or containers that share its folder. A lock file belongs to a process,
// and one whose process has died is removed. If the lock cannot be had in time, the work is not done.
import { mkdirSync } from 'node:fs';
import { open, readFile, rm, stat } from 'node:fs/promises';
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
  found ??= createLeaseHolder(identifyProcess() ?? { space: hostName(), pid: process.pid, start: '' });
  return found;
}

/** `wrap` loads this file before its first answer, and `node:os` takes milliseconds. */
function hostName(): string {
  return process.getBuiltinModule('node:os').hostname();
}

export async function withFileLock<T>({ path, waitMs, onLate }: FileLockOptions, work: () => Promise<T>): Promise<T> {
  const until = ticksOf(systemClock) + waitMs;
  const mark = thisProcess().marked(randomId());
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await take(path, mark))) {
    if (ticksOf(systemClock) > until) throw onLate();
    await removeDead(path, mark);
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    if ((await holderOf(path)) === mark) await rm(path, { force: true });
  }
}

/** False if another process, or another call of this one, has it. */
async function take(path: string, mark: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(mark);
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** One process at a time looks once more and removes it. So the lock that it removes is the dead one, and not one that was taken since. */
async function removeDead(path: string, mark: string): Promise<void> {
  if (!(await isDead(path))) return;
  const removing = `${path}-dead`;
  if (!(await take(removing, mark))) {
    if (await isOld(removing)) await rm(removing, { force: true });
    return;
  }
  try {
    if (await isDead(path)) await rm(path, { force: true });
  } finally {
    await rm(removing, { force: true });
  }
}

async function isDead(path: string): Promise<boolean> {
  return thisProcess().isDead(await holderOf(path)) || isOld(path);
}

function holderOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

async function isOld(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
  return systemClock.now() - mtimeMs > DEAD_MS;
}
