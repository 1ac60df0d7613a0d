// The only place of the command line that reads the environment, the folders and the platform.
import { homedir } from 'node:os';
import type { Environment } from '../config/read/find-config.ts';

export function readEnvironment(): Environment & { platform: NodeJS.Platform } {
  const { env, platform } = process;
  // homedir() prefers $HOME and asks the system if it is not set.
  return { env, cwd: process.cwd(), home: homedir(), platform };
}
