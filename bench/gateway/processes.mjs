// What a gateway costs, read from /proc: CPU time and memory of its process and all below it, without the servers, which are
// the same for all. Linux only.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { SERVER } from './contenders.mjs';

/** The processes of a gateway; `isServer`: it is the server itself that is measured. */
export function processesOf(root, isServer = false) {
  const below = tree(root);
  return isServer ? below : below.filter((pid) => !isBenchServer(pid));
}

/** How many servers run below it. */
export const serversOf = (root) => tree(root).filter(isBenchServer).length;

/** µs that all threads have run; a process that has ended counts no more. */
export function cpuMicros(pids) {
  let nanos = 0;
  for (const pid of pids) {
    for (const thread of listed(`/proc/${pid}/task`)) nanos += runNanos(`/proc/${pid}/task/${thread}/schedstat`);
  }
  return nanos / 1000;
}

/** Resident memory in MB, now. */
export const residentMb = (pids) => sum(pids, 'VmRSS');

/** The most since `forgetPeak`. */
export const peakMb = (pids) => sum(pids, 'VmHWM');

export function forgetPeak(pids) {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function sum(pids, field) {
  return (
    pids.reduce(
      (all, pid) => all + Number(new RegExp(`${field}:\\s+(\\d+)`).exec(read(`/proc/${pid}/status`))?.[1] ?? 0),
      0,
    ) / 1024
  );
}

function tree(root) {
  const parents = listed('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => [Number(pid), parentOf(pid)]);
  const found = [root];
  for (const pid of found) found.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child));
  return found;
}

/** The name of a process, in brackets, may hold anything; what follows the last bracket does not. */
function parentOf(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

const isBenchServer = (pid) => read(`/proc/${pid}/cmdline`).split('\0')[1] === SERVER;

const runNanos = (path) => Number(read(path).split(' ')[0]);

// Processes and threads may end while they are looked at.
function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function listed(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
