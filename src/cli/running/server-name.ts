// Derives a short name for a server without one, for logs and for the lines to paste.
import type { CommandAddress, UrlAddress } from '../../gateway/upstream/address.ts';

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
