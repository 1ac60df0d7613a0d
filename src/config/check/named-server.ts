// The servers of a configuration by name.
import { toServerName } from './check-server.ts';
import type { ConfigPath } from './config-problems.ts';
import { BLOCKS } from './schema.ts';
import type { ConfigInput } from './schema.ts';
import type { ServerInput } from './server-shape.ts';

export interface NamedServer {
  name: string;
  path: ConfigPath;
  server: ServerInput;
}

/** The servers of all blocks in the order of the file, with short forms expanded. */
export function listServers(config: ConfigInput): NamedServer[] {
  return BLOCKS.flatMap((block) =>
    Object.entries(config[block] ?? {}).map(([name, entry]) => ({
      name: toServerName(name),
      path: [block, name],
      server: typeof entry === 'string' ? { url: entry } : entry,
    })),
  );
}
