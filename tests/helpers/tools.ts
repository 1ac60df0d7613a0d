// Finds programs that npm does not provide. A test that needs one is skipped if it is missing, with a line that says
// how to get it; with PARLEY_TOOLS=required, as in .ci/run, that is a failure.
import { spawnSync } from 'node:child_process';

/** Whether it can be started. */
export function hasTool(command: string, debian: string = command): boolean {
  const there = spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined;
  if (there) return true;
  const told = `${command} is not installed (apt-get install ${debian})`;
  if (process.env['PARLEY_TOOLS'] === 'required') throw new Error(told);
  console.warn(`skipped: ${told}`);
  return false;
}
