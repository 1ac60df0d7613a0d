// Looks for a command as the system would.
import { existsSync } from 'node:fs';
import { delimiter, join, isAbsolute, resolve } from 'node:path';

/** Its path; undefined if it is not on PATH. */
export function findOnPath(
  command: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const endings = process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const paths = folders.flatMap((folder) => endings.map((ending) => join(folder, command + ending)));
  return paths.find((path) => existsSync(path));
}

/** Whether the command of a server is there. True also if it cannot be known. `base`: the folder for relative paths. */
export function commandExists(
  command: string,
  base: string,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (isAbsolute(command) || /[\\/]/.test(command)) return existsSync(resolve(base, command));
  return env['PATH'] === undefined || findOnPath(command, env) !== undefined;
}
