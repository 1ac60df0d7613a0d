// A server that a command line names, by its command or URL: its address, and a short name for logs and for the lines to paste.
import type { CommandAddress, UrlAddress } from '../../mcp/connect/address.ts';
import { safeEnv } from '../../mcp/connect/links/server-process.ts';

const OF_THE_SHELL = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);

/** A command gets the environment that it would have without Parley. */
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

/** Programs that run other programs; what they run has the better name. */
const RUNNERS = /^(npx|bunx|pnpx|uvx|pipx|node|bun|deno|tsx|python[\d.]*|uv|npm|pnpm|yarn)$/;
const VERBS = new Set(['run', 'exec', 'dlx', 'x', 'tool']);

export function deriveServerName(server: CommandAddress | UrlAddress): string {
  if ('url' in server) return new URL(server.url).hostname.replaceAll(/[[\]]/g, '');
  const { command, args = [] } = server;
  const name = shortName(command);
  if (!RUNNERS.test(name)) return name;
  const run = args.find((arg) => !arg.startsWith('-') && !VERBS.has(arg));
  return run !== undefined && /^[\w@./\\:+~-]+$/.test(run) ? shortName(run) : name;
}

function shortName(path: string): string {
  const last = path.split(/[\\/]/).at(-1)!;
  return last.replace(/(?!^)@.*$/, '').replace(/\.(exe|cmd|bat|[cm]?[jt]s|py|sh)$/i, '') || path;
}
