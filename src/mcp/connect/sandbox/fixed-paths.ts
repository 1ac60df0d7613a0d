// Where the paths that servers may change lead to, as it was when the gateway first knew them. A server that may change the folder around
// such a path can put a link in its place, and the server that is started next would get what the link names.
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SandboxAddress } from './sandbox-options.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';

/** As many as are configured. */
const known = new Map<string, string>();

/** For a server that may be started later. */
export function noteSandbox({ sandbox }: SandboxAddress): void {
  if (typeof sandbox === 'object') notePaths(sandbox.write ?? []);
}

/** Remembers where the paths lead to, if it does not know them yet. */
function notePaths(paths: readonly string[]): void {
  for (const path of paths) if (!known.has(path)) known.set(path, realPathOf(path));
}

/** Throws if a path leads elsewhere than before. */
export function checkPaths(paths: readonly string[]): void {
  notePaths(paths);
  const moved = paths.find((path) => known.get(path) !== realPathOf(path));
  if (moved === undefined) return;
  const reason = `${moved} leads elsewhere than when Parley started; if that is meant, start Parley again`;
  throw new GatewayError('BAD_OPTION', { option: 'sandbox.write', reason });
}

/** What does not exist yet is named by the real path of its folder. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPathOf(folder), basename(path));
  }
}
