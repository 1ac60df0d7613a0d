// The folders of this user's Parley. Tokens, keys, logins and configurations are there.
import { posix, win32 } from 'node:path';

interface UserEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  platform?: NodeJS.Platform | undefined;
}

/** Where gateways keep what outlives them. */
export function stateFolder({ env, home, platform = process.platform }: UserEnvironment): string {
  if (platform === 'win32') return win32.join(env['LOCALAPPDATA'] || win32.join(home, 'AppData', 'Local'), 'parley');
  return posix.join(xdgFolder(env['XDG_STATE_HOME']) ?? posix.join(home, '.local', 'state'), 'parley');
}

/** The configuration folder of this user. */
export function userFolder({ env, home, platform = process.platform }: UserEnvironment): string {
  if (platform === 'win32') return win32.join(env['APPDATA'] || win32.join(home, 'AppData', 'Roaming'), 'parley');
  return posix.join(xdgFolder(env['XDG_CONFIG_HOME']) ?? posix.join(home, '.config'), 'parley');
}

/** Both, of the user who runs this process. `os` is loaded only if it must be: this is needed before the first answer. */
export function ownFolders(): [state: string, config: string] {
  const { env } = process;
  const user = { env, home: env['HOME'] || process.getBuiltinModule('node:os').homedir() };
  return [stateFolder(user), userFolder(user)];
}

/** The XDG specification says to ignore a relative path. */
function xdgFolder(path: string | undefined): string | undefined {
  return path && posix.isAbsolute(path) ? path : undefined;
}

/** The state folder of the user who runs this process. */
export function ownStateFolder(): string {
  return ownFolders()[0];
}
