// CPU of a process with its descendants, from /proc: a server may be many processes.
import { readFileSync, readdirSync } from 'node:fs';

const TICK_US = 10_000;

/** µs, and of descendants that have ended too; 0 where there is no such server. */
export function treeCpu(pid) {
  if (pid === undefined) return 0;
  let sum = 0;
  for (const one of tree(pid)) for (const ticks of fields(one).slice(11, 15)) sum += Number(ticks) * TICK_US || 0;
  return sum;
}

function tree(pid) {
  const children = new Map();
  for (const one of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const parent = Number(fields(one)[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(one)]);
  }
  const all = [pid];
  for (const one of all) all.push(...(children.get(one) ?? []));
  return all;
}

/** Of /proc/<pid>/stat, after the name; none where it has ended meanwhile. */
function fields(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}
