// Looks for a command as the system would.
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** True also if it cannot be known. `base`: the folder for relative paths. */
export function commandExists(
  command: string,
  base: string,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (isAbsolute(command) || /[\\/]/.test(command)) return existsSync(resolve(base, command));
  const { PATH } = env;
  if (PATH === undefined) return true;
  const endings = process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  return PATH.split(delimiter).some((folder) => endings.some((end) => existsSync(join(folder, command + end))));
}
