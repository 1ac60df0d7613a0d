// Which process holds a lease, so that others on the same machine need not wait for the lease of one that is dead to run out.
// In doubt a process is alive, since a session must never have two owners at once:
// 1. Only Linux says what is needed. Elsewhere nobody is ever known to be dead.
// 2. A number of a process means something in its own space of numbers alone: another boot, or another container, is never judged.
// 3. The number may have been given to another process since. Then this one counts as alive, and its lease runs out.
//    Only where it is our own number the time of its start decides: the process that had it before cannot be there any more.
import { readFileSync, readlinkSync } from 'node:fs';

export interface LeaseHolder {
  /** The owner of a lease, with the process it is in. */
  marked(owner: string): string;
  /** The process of an owner that was marked is dead for certain. */
  isDead(marked: string): boolean;
}

interface Place {
  /** Of the numbers of processes. */
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

/** Undefined where it cannot be told. */
export function identifyProcess(): Place | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const space = `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
    // The name of the program comes first, in brackets, and may have anything in it.
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return start === undefined || /\s/.test(space) ? undefined : { space, pid: process.pid, start };
  } catch {
    return undefined; // a system without /proc
  }
}

/** Not by /proc, which may hide the processes of other users. */
function isGone(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
