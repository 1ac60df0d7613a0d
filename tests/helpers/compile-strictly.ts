// Runs the compiler as a strict program that uses the package would.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './files.ts';

const OPTIONS = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--ignoreConfig', '--types', 'node'];
const OUTPUT = ['--module', 'nodenext', '--target', 'es2023'];

/** Returns what the compiler printed, and its exit status. */
export function compileStrictly(...args: string[]): { output: string; status: number | null } {
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const run = spawnSync(tsc, [...OPTIONS, ...OUTPUT, ...args], { cwd: ROOT, encoding: 'utf8' });
  return { output: run.stdout + run.stderr, status: run.status };
}
