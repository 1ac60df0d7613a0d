// Records which process holds a lease, so that others on the same machine can take over from a dead process at once. In doubt a process counts
// as alive, since a session must never have two owners:
// 1. Only Linux provides the data. On other systems no process is known to be dead.
// 2. A pid is valid only in its own boot and pid namespace; processes of others are never judged.
// 3. A pid may have been reused. Then the process counts as alive until its lease expires. Only for our own pid the start time decides.
import { readFileSync, readlinkSync } from 'node:fs';

export interface LeaseHolder {
  /** Adds this process to the owner of a lease. */
  marked(owner: string): string;
  /** The process of a marked owner is certainly dead. */
  isDead(marked: string): boolean;
}

interface Place {
  /** Boot id and pid namespace. */
  space: string;
  pid: number;
  start: string;
}

export function createLeaseHolder(here: Place | undefined = identifyProcess()): LeaseHolder {
  return {
    marked: (owner) => (here ? `${owner} ${here.space} ${here.pid} ${here.start}` : owner),
    isDead(marked) {
      const [, space, pid, start] = marked.split(' ');
      if (!here || space !== here.space || pid === undefined) return false;
      return Number(pid) === here.pid ? start !== here.start : isGone(Number(pid));
    },
  };
}

/** Undefined if it cannot be determined. */
export function identifyProcess(): Place | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const space = `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
    // The name of the program comes first, in brackets, and may contain anything.
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return start === undefined || /\s/.test(space) ? undefined : { space, pid: process.pid, start };
  } catch {
    return undefined; // a system without /proc
  }
}

/** Whether a process of this user has this pid. EPERM means that one of another user has it by now. */
export function isLiveProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Not with /proc, which may hide the processes of other users. */
function isGone(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
