// Finds the configuration file: the named one, else one in the working folder, else the user's own.
import { existsSync, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';

export interface Environment {
  /** The only environment that is read. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  platform?: NodeJS.Platform | undefined;
}

export interface ConfigLocation {
  path: string | undefined;
  /** All searched paths, in order. */
  searched: string[];
}

export const FILE_NAMES: readonly string[] = ['jsonc', 'json', 'yaml', 'yml'].map(
  (ending) => `parley.config.${ending}`,
);

export function findConfig(named: string | undefined, around: Environment): ConfigLocation {
  const paths = pathsOf(around);
  const isFolder = named !== undefined && isDirectory(paths.resolve(around.cwd, named));
  const folders = named === undefined ? [around.cwd, userFolder(around)] : [paths.resolve(around.cwd, named)];
  const searched =
    named === undefined || isFolder
      ? folders.flatMap((folder) => FILE_NAMES.map((name) => paths.join(folder, name)))
      : [paths.resolve(around.cwd, named)];
  return { path: searched.find((path) => existsSync(path)), searched };
}

/** The configuration folder of this user. */
export function userFolder(around: Environment): string {
  const { env, home, platform = process.platform } = around;
  const paths = pathsOf(around);
  if (platform === 'win32') return paths.join(env['APPDATA'] || paths.join(home, 'AppData', 'Roaming'), 'parley');
  const xdg = env['XDG_CONFIG_HOME'];
  // The XDG specification says to ignore a relative path.
  return paths.join(xdg && paths.isAbsolute(xdg) ? xdg : paths.join(home, '.config'), 'parley');
}

function pathsOf({ platform = process.platform }: Environment): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
