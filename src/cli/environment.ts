// The only place of the command line that reads the environment, the folders and the platform: where the user stands, and how a path looks from
// there.
import { homedir } from 'node:os';
import type { Environment } from '../config/read/find-config.ts';
import { relative, sep } from 'node:path';

export function readEnvironment(): Environment & { platform: NodeJS.Platform } {
  const { env, platform } = process;
  // homedir() prefers $HOME and asks the system if it is not set.
  return { env, cwd: process.cwd(), home: homedir(), platform };
}

/** The path as the user would write it. */
export function displayPath(path: string | undefined): string {
  if (path === undefined) return 'The configuration';
  const near = relative(process.cwd(), path);
  return near === '' || near.startsWith(`..${sep}`) ? path : near;
}
