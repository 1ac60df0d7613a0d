// Finds the configuration file: the named one, else one in the working folder, else the user's own.
import { existsSync, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { userFolder } from '../../kernel/secrets/own-folders.ts';

export interface Environment {
  /** The only environment that is read. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  platform?: NodeJS.Platform | undefined;
}

interface ConfigLocation {
  path: string | undefined;
  /** All searched paths, in order. */
  searched: string[];
}

const FILE_NAMES: readonly string[] = ['jsonc', 'json', 'yaml', 'yml'].map((ending) => `parley.config.${ending}`);

export function findConfig(named: string | undefined, environment: Environment): ConfigLocation {
  const paths = pathsOf(environment);
  const isFolder = named !== undefined && isDirectory(paths.resolve(environment.cwd, named));
  const folders =
    named === undefined ? [environment.cwd, userFolder(environment)] : [paths.resolve(environment.cwd, named)];
  const searched =
    named === undefined || isFolder
      ? folders.flatMap((folder) => FILE_NAMES.map((name) => paths.join(folder, name)))
      : [paths.resolve(environment.cwd, named)];
  return { path: searched.find((path) => existsSync(path)), searched };
}

function pathsOf({ platform = process.platform }: Environment): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
