// Compares code with what was trusted before a server starts, where the servers come from one or several files.
import { enabledServers } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import type { CommandAddress } from '../../mcp/connect/address.ts';
import { createStartCheck } from './judge-trust.ts';

type StartCheck = (address: CommandAddress) => void;

/**
 * A server may start if a file that was trusted with its code says so, or one that needs no trust names its command. Invariant: what one file names is
 * never let through because another one needs no trust.
 */
export class StartChecks {
  readonly #checks: ReadonlyMap<string, StartCheck | undefined>;
  /** Commands of files that need no trust. */
  readonly #free = new Set<string>();

  constructor(parts: readonly LoadedConfig[]) {
    this.#checks = new Map(parts.map(({ path = '' }) => [path, createStartCheck(path)]));
    this.accept(parts);
  }

  /** Before the servers of changed files start. */
  accept(parts: readonly LoadedConfig[]): void {
    for (const { path = '', config } of parts) {
      if (!config || this.#checks.get(path)) continue;
      for (const [, server] of enabledServers(config)) if ('command' in server) this.#free.add(idOf(server));
    }
  }

  /** Undefined if no file needs trust. */
  get check(): StartCheck | undefined {
    const checks = [...this.#checks.values()].filter((check) => check !== undefined);
    if (checks.length === 0) return undefined;
    return (address) => {
      if (!this.#free.has(idOf(address))) passOne(checks, address);
    };
  }
}

function idOf({
  command,
  args = [],
  cwd,
}: {
  command: string;
  args?: readonly string[] | undefined;
  cwd?: string | undefined;
}): string {
  return JSON.stringify([command, args, cwd]);
}

function passOne([check, ...others]: StartCheck[], address: CommandAddress): void {
  try {
    check!(address);
  } catch (thrown) {
    if (others.length === 0) throw thrown;
    passOne(others, address);
  }
}
