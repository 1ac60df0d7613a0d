// The address of the wrapped server: a command gets the environment that it would have without Parley.
import type { CommandAddress, UrlAddress } from '../../gateway/upstream/address.ts';
import { safeEnv } from '../../gateway/upstream/links/server-process.ts';

const OF_THE_SHELL = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);

export function toWrappedAddress(server: CommandAddress | UrlAddress): CommandAddress | UrlAddress {
  return 'command' in server ? { ...server, env: toInheritedEnv(server.env) } : server;
}

/** The whole environment of this process, as the client set it up for the server, but for what a shell or Node adds anyway. */
export function toInheritedEnv(given: Record<string, string> = {}, ours = process.env): Record<string, string> {
  const anyway = safeEnv({}, ours);
  const more = Object.entries(ours).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !(entry[0] in anyway) && !OF_THE_SHELL.has(entry[0]) && !entry[1].startsWith('()'),
  );
  return { ...Object.fromEntries(more), ...given };
}
