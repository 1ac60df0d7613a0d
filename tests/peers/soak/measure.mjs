// Measures what a process holds: children, file handles and memory.
import { readdirSync, readFileSync } from 'node:fs';

/** Children of children too. */
export function processesBelow(pid) {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(name);
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const isBelow = (one) => {
    for (let at = parents.get(one); at !== undefined && at > 1; at = parents.get(at)) if (at === pid) return true;
    return false;
  };
  return [...parents.keys()].filter(isBelow);
}

function parentOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // it ended meanwhile
  }
}

export function handlesOf(pid) {
  return readdirSync(`/proc/${pid}/fd`).length;
}
