// Finds the server of a tool, prompt or resource from what a gateway reports: the prefix of its name, the only server, or the only server
// with a tool of that name.
import type { JsonObject } from '../../protocol/message.ts';
import type { ServerStatus } from '../running/status-page.ts';

/** Parley's own tool; it belongs to no server. */
const OWN = 'parley_answer';

export function findOwningServer(kind: string, { name }: JsonObject, servers: ServerStatus[]): string | undefined {
  if (name === OWN) return 'parley';
  if (servers.length === 1) return servers[0]!.name;
  if (kind === 'resources') return undefined;
  const named = servers.find((server) => String(name).startsWith(`${server.name}__`));
  if (named) return named.name;
  const having = servers.filter(({ toolNames }) => kind === 'tools' && toolNames.includes(String(name)));
  // If several servers have the tool, the first keeps the plain name and the others get a prefix.
  return having[0]?.name;
}
