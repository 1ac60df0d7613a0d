// Where this user's gateways keep what outlives them.
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../../config/read/find-config.ts';

export function stateFolder({ env, home, platform = process.platform }: Omit<Environment, 'cwd'>): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'parley');
  const xdg = env['XDG_STATE_HOME'];
  // The XDG specification says to ignore a relative path.
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.local', 'state'), 'parley');
}

/** The state folder of the user who runs this process. Not by environment.ts, which loads `os`: it is needed before the first answer. */
export function ownStateFolder(): string {
  const { env } = process;
  return stateFolder({ env, home: env['HOME'] || process.getBuiltinModule('node:os').homedir() });
}
