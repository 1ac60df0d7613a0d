// Where paths lead, and whether one lies below another.
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';

/** The path without links. One that does not exist stays as it is written. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** As the paths are written: links are not followed. */
export function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
