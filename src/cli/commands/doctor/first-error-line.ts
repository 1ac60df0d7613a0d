// The line of a stack or log that says what went wrong: programs write it first and twenty lines of paths after it.
import { printableLine } from '../../../kernel/base/visible.ts';

const NAMED = /^[\s>]*(?:Uncaught |\[?error\]?:? )?((?:[\w.$]+\.)?\w*(?:Error|Exception)(?: \[\w+\])?: .+)$/m;
const PLAIN = /^[\s>]*((?:error|fatal|panic)[:!] .+)$/im;
const MAX = 300;

/** Undefined if no line is one. */
export function firstErrorLine(text: string): string | undefined {
  const line = NAMED.exec(text)?.[1] ?? PLAIN.exec(text)?.[1];
  return line === undefined ? undefined : printableLine(line.trim().slice(0, MAX));
}
