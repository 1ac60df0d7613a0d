// Which server has what a gateway lists.
import type { ServerStatus } from '../../gateway/servers/gateway-status.ts';

/** Parley's own tool; it belongs to no server. */
const OWN = 'parley_answer';

/** By the prefix of its name, as the only server, or as the only server with a tool of that name. */
export function findOwningServer(
  kind: string,
  { name }: { name?: unknown },
  servers: readonly ServerStatus[],
): string | undefined {
  if (name === OWN) return 'parley';
  if (servers.length === 1) return servers[0]!.name;
  if (kind === 'resources') return undefined;
  const named = servers.find((server) => String(name).startsWith(`${server.name}__`));
  if (named) return named.name;
  const having = servers.filter(({ toolNames }) => kind === 'tools' && toolNames.includes(String(name)));
  // If several servers have the tool, the first keeps the plain name and the others get a prefix.
  return having[0]?.name;
}

/** The name that a server itself gives a tool, as far as its public name says it. */
export function ownNameOf(name: string, server: string): string {
  return name.startsWith(`${server}__`) ? name.slice(server.length + 2) : name;
}
