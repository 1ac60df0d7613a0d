// Looks for a command as the system would.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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
