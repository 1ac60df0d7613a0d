// Which configurations are the user's own: those in the user's config folder, the files of clients in the home, and those that the caller
// vouches for. Clients keep other people's folders next to their files. Paths are compared as written: a link in another folder may lead anywhere tomorrow.
import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, resolve, sep } from 'node:path';
import type { Environment } from '../../config/read/find-config.ts';
import { userFolder } from '../../shared/secrets/own-folders.ts';
import { placesInHome } from './client-files.ts';

/** A variable that only the caller can set: files and folders whose configurations are trusted, as PATH separates them. */
const VOUCHED = 'PARLEY_TRUST';

export function isOwnConfig(path: string, environment: Environment): boolean {
  const homes = new Set([environment.home, real(environment.home)]);
  const isOwn = [...homes].some((home) => isInHome(path, { ...environment, home }));
  return isOwn || vouchedFor(environment).some((one) => path === one || isInside(path, one));
}

function isInHome(path: string, environment: Environment): boolean {
  if (isInside(path, userFolder(environment))) return true;
  return placesInHome(environment).some(([, file]) => file === path);
}

function vouchedFor({ env }: Environment): string[] {
  const named = (env[VOUCHED] ?? '').split(delimiter).filter((one) => isAbsolute(one));
  return named.map((one) => resolve(one));
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
