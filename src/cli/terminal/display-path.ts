// Shows paths as the user would write them.
import { relative, sep } from 'node:path';

/** The path as the user would write it. */
export function displayPath(path: string | undefined): string {
  if (path === undefined) return 'The configuration';
  const near = relative(process.cwd(), path);
  return near === '' || near.startsWith(`..${sep}`) ? path : near;
}
