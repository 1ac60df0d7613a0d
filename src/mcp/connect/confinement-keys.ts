// The keys of a configuration that confine the command of a server, each a row here.
import { sandboxKey } from './sandbox/config.ts';

export const CONFINEMENT_KEYS = {
  sandbox: sandboxKey,
};

interface WrittenPath {
  /** Where it stands below the key. */
  at: readonly (string | number)[];
  written: string;
}

/** The paths in the entry of a server that have to exist before its command can start. */
export function neededPaths(server: object): WrittenPath[] {
  const values = new Map<string, unknown>(Object.entries(server));
  const keys: [string, { neededPaths(value: never): WrittenPath[] }][] = Object.entries(CONFINEMENT_KEYS);
  return keys.flatMap(([name, key]) =>
    key.neededPaths(values.get(name) as never).map(({ at, written }) => ({ at: [name, ...at], written })),
  );
}
