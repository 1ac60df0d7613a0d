// A regular expression that a server sent, tried on text that somebody typed. Some take years on some texts, and while
// they do nothing else happens in this process: it is run where it can be stopped.
import type { Script } from 'node:vm';

/** Generous: an honest pattern needs microseconds, but the machine may be busy. */
const DEADLINE_MS = 250;
let script: Script | undefined;

/** Undefined when the pattern is none that JavaScript can read. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  const flags = ['u', ''].find((flags) => isReadable(pattern, flags));
  if (flags === undefined) return undefined;
  const vm = process.getBuiltinModule('node:vm'); // few servers send one
  script ??= new vm.Script('new RegExp(pattern, flags).test(text)');
  try {
    const context = vm.createContext(Object.assign(Object.create(null) as object, { pattern, flags, text }));
    return script.runInContext(context, { timeout: DEADLINE_MS }) as boolean;
  } catch {
    return false; // out of time, or out of stack: nothing that took so long is an answer
  }
}

function isReadable(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}
