// What an entry of `servers` is: an address, a server in this process, or one of them with settings.
import type { Target } from '../kernel/target.ts';
import type { Address } from '../mcp/connect/address.ts';
import type { FeatureSettings } from './features/index.ts';
import type { UpstreamTargetOptions } from './servers/target-options.ts';

/** The address of a server, alone or with settings, or a server in this process. */
export type ServerEntry = Address | Target | ({ server: Address | Target } & ServerSettings);

export type ServerSettings = Pick<UpstreamTargetOptions, 'share' | 'revision' | 'era' | 'timeoutMs' | 'idleMs'> & {
  /** `eager`: connected at once. Default: when a client first needs it. */
  start?: 'lazy' | 'eager' | undefined;
} & FeatureSettings;

export type ConfiguredServer = { server: Address | Target } & ServerSettings;

export function isTarget(entry: ServerEntry): entry is Target {
  return typeof entry === 'object' && 'handle' in entry && 'watch' in entry;
}

function isSettings(entry: ServerEntry): entry is ConfiguredServer {
  return typeof entry === 'object' && !isTarget(entry) && 'server' in entry;
}

/** The server of an entry, and its settings. */
export function toConfigured(entry: ServerEntry): ConfiguredServer {
  return !isTarget(entry) && isSettings(entry) ? entry : { server: entry };
}
