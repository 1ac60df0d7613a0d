// Reads the environment variables of a server from its `envFile` (VS Code and Cursor). `env` wins.
import { parseEnv } from 'node:util';
import { resolve } from 'node:path';
import type { ConfigProblems } from '../check/config-problems.ts';
import type { ConfigInput } from '../check/schema.ts';
import { listServers } from '../check/validate-config.ts';

/** Reads the files into `env`; returns their paths. `read` throws if it cannot read a file. */
export function readEnvFiles(
  config: ConfigInput,
  { folder, read, problems }: { folder: string; read: (path: string) => string; problems: ConfigProblems },
): string[] {
  return listServers(config).flatMap(({ path, server }) => {
    if (server.envFile === undefined || server.command === undefined || server.disabled) return [];
    const file = resolve(folder, server.envFile);
    try {
      server.env = { ...(parseEnv(read(file)) as Record<string, string>), ...server.env };
    } catch {
      problems.error(
        [...path, 'envFile'],
        `cannot read ${file}`,
        'Check the path; it starts at the folder of this file.',
      );
    }
    return [file];
  });
}
