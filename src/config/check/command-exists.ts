// Whether the command of a server is there.
import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { findOnPath } from '../../gateway/upstream/sandbox/find-on-path.ts';

/** True also if it cannot be known. `base`: the folder for relative paths. */
export function commandExists(
  command: string,
  base: string,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (isAbsolute(command) || /[\\/]/.test(command)) return existsSync(resolve(base, command));
  return env['PATH'] === undefined || findOnPath(command, env) !== undefined;
}
