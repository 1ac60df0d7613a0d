// The file of a login in a folder of logins. Asked before the first request to a server, so it loads nothing.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { smallDigest } from '../../../shared/short-name.ts';

export function loginFile(folder: string, key: string): string {
  return join(folder, `${smallDigest(key)}.login`);
}

export function hasLoginFile(folder: string, key: string): boolean {
  return existsSync(loginFile(folder, key));
}

export function countLoginFiles(folder: string): number {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.login')).length : 0;
}
