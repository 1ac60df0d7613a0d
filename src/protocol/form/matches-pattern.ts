// Runs a server's regular expression on typed text with a time limit, because some patterns take years on some texts
// and would block the process.
import type { Script } from 'node:vm';

/** Generous: a reasonable pattern needs microseconds, but the machine may be busy. */
const DEADLINE_MS = 250;
let script: Script | undefined;

/** Undefined if JavaScript cannot parse the pattern. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  const flags = ['u', ''].find((flags) => isReadable(pattern, flags));
  if (flags === undefined) return undefined;
  const vm = process.getBuiltinModule('node:vm'); // loaded lazily: few servers send patterns
  script ??= new vm.Script('new RegExp(pattern, flags).test(text)');
  try {
    const context = vm.createContext(Object.assign(Object.create(null) as object, { pattern, flags, text }));
    return script.runInContext(context, { timeout: DEADLINE_MS }) as boolean;
  } catch {
    return false; // out of time or out of stack: treat as no match
  }
}

function isReadable(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}
