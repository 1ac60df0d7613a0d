// Bubblewrap (Linux): the file system is read-only but for the named paths, Parley's own folders are hidden, and the network is there or not: bubblewrap cannot tell
// hosts apart. It ends with us, and everything inside with it.
import { existsSync } from 'node:fs';
import { isAbsolute, sep } from 'node:path';
import type { ServerCommand } from '../links/prestart.ts';
import { ownFolders } from '../../../shared/secrets/own-folders.ts';
import type { SandboxOptions, SandboxedCommand } from './sandbox.ts';

/** Other programs have sockets there. The names of hosts are looked up by way of the last one. */
const SHARED = ['/tmp', '/run'];
const RESOLVER = '/run/systemd/resolve';

/** Root would keep the right to mount what is read-only as writable. */
const FLAGS = '--unshare-all --cap-drop ALL --die-with-parent --ro-bind / / --dev /dev --proc /proc'.split(' ');
const TEMPORARY = '--setenv TMPDIR /tmp'.split(' ');

export function toBubblewrap(bwrap: string, server: ServerCommand, wanted: SandboxOptions): SandboxedCommand {
  const { command, args = [], cwd = process.cwd() } = server;
  const { write = [], hosts = [] } = wanted;
  const own = ownFolders().filter((path) => existsSync(path));
  // The server itself may lie in a folder that is hidden.
  const named = [cwd, command, ...args].filter((path) => isAbsolute(path) && existsSync(path) && !isIn(path, write));
  const inTemporary = named.filter((path) => path.startsWith('/tmp/')).map((path) => path.split(sep, 3).join(sep));
  return {
    command: bwrap,
    args: [
      ...FLAGS,
      ...SHARED.flatMap(hide),
      ...inTemporary.flatMap(show),
      ...(hosts.length > 0 ? ['--share-net', '--ro-bind-try', RESOLVER, RESOLVER] : []),
      ...write.flatMap((path) => ['--bind', path, path]),
      ...own.flatMap(hide),
      ...named.filter((path) => isIn(path, own)).flatMap(show),
      ...TEMPORARY,
      '--chdir',
      cwd,
      '--',
      command,
      ...args,
    ],
  };
}

function hide(folder: string): string[] {
  return ['--tmpfs', folder];
}

function show(path: string): string[] {
  return ['--ro-bind', path, path];
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder + sep));
}
