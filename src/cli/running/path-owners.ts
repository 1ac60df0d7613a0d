// Whose folders and links lead to a path. Who owns one of them decides what is found at its end.
import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A folder or link that was passed, or the file at the end. */
export interface PassedPath {
  readonly path: string;
  readonly uid: number;
  readonly mode: number;
  readonly isLink: boolean;
}

/** As the kernel does. */
const MAX_LINKS = 40;

/** From the root to what is there, links included, each looked at once. Undefined if nothing is there. */
export function passedOnTheWay(path: string): readonly PassedPath[] | undefined {
  const passed: PassedPath[] = [];
  const names = ['', ...namesIn(path)];
  let folder = '/';
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const here = join(folder, name);
    const found = lstatSync(here, { throwIfNoEntry: false });
    if (!found) return undefined;
    const isLink = found.isSymbolicLink();
    passed.push({ path: here, uid: found.uid, mode: found.mode, isLink });
    if (!isLink) folder = here;
    else if (++links > MAX_LINKS) throw new Error(`too many links at ${here}`);
    else {
      const target = readlinkSync(here);
      names.unshift(...namesIn(target));
      if (target.startsWith('/')) folder = '/';
    }
  }
  return passed;
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
