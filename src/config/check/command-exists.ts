// Whether a command can be found, as the system would look for it.
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** True also where nothing can be said. `base`: what a path is relative to. */
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
