// What surrounds a command: the one place of the command line where environment, folders and platform are read.
import { homedir } from 'node:os';
import type { Environment } from '../config/read/find-config.ts';

export function readEnvironment(): Environment & { platform: NodeJS.Platform } {
  const { env, platform } = process;
  // HOME first, as everywhere on POSIX; homedir() asks the system where it is not set.
  return { env, cwd: process.cwd(), home: homedir(), platform };
}
