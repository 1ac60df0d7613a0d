// Which server a tool, prompt or resource is of, as far as a gateway's own words say it: the name in front of it, the only server there
// is, or the only one that has a tool of that name.
import type { JsonObject } from '../../protocol/message.ts';
import type { ServerStatus } from './status-page.ts';

/** Parley's own tool, which is of no server. */
const OWN = 'parley_answer';

export function findOwningServer(kind: string, { name }: JsonObject, servers: ServerStatus[]): string | undefined {
  if (name === OWN) return 'parley';
  if (servers.length === 1) return servers[0]!.name;
  if (kind === 'resources') return undefined;
  const named = servers.find((server) => String(name).startsWith(`${server.name}__`));
  if (named) return named.name;
  const having = servers.filter(({ toolNames }) => kind === 'tools' && toolNames.includes(String(name)));
  // Where several have it, the first one keeps the name and the others have theirs in front.
  return having[0]?.name;
}
