// Compares two configurations: which servers must restart, and what else changed.
import { isDeepStrictEqual } from 'node:util';
import { FEATURE_KEYS, SERVER_FEATURE_KEYS } from '../../gateway/features/config.ts';
import { enabledServers } from '../config.ts';
import type { ParleyConfig, ServerConfig } from '../config.ts';

export interface ConfigDifference {
  /** Names of servers. A disabled server counts as removed. */
  added: string[];
  removed: string[];
  /** These are opened again. */
  changed: string[];
  /** Only what they may offer has changed: they run on. */
  settled: string[];
  unchanged: string[];
  /** Other keys that take effect at once. */
  live: (keyof ParleyConfig)[];
  /** Keys that take effect at the next start of Parley. */
  restart: (keyof ParleyConfig)[];
}

const AT_START = ['listen', 'limits', 'keys', 'publicUrl'] as const satisfies (keyof ParleyConfig)[];

/** They change at once, but cannot come or go: servers learn once whether there are roots, and a gateway asks for a login from its start on. */
const FROM_THE_START = ['roots', 'auth'] as const satisfies (keyof ParleyConfig)[];

const AT_ONCE = ['steps', 'groups', 'names', 'startMs', 'ask', 'log'] as const satisfies (keyof ParleyConfig)[];

/** `first`: the configuration with which the gateway was started, if it is not `previous`. */
export function compareConfigs(previous: ParleyConfig, next: ParleyConfig, first = previous): ConfigDifference {
  const before = new Map(enabledServers(previous));
  const after = new Map(enabledServers(next));
  const both = [...after.keys()].filter((name) => before.has(name));
  const same = (name: string) => isDeepStrictEqual(running(before.get(name)!), running(after.get(name)!));
  const sameOpening = (name: string) => isDeepStrictEqual(openingOf(before.get(name)!), openingOf(after.get(name)!));
  const differs = (key: keyof ParleyConfig) => !isDeepStrictEqual(previous[key], next[key]);
  const atStart = FROM_THE_START.filter((key) => differs(key) && (first[key] === undefined || next[key] === undefined));
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: both.filter((name) => !sameOpening(name)),
    settled: both.filter((name) => sameOpening(name) && !same(name)),
    unchanged: both.filter(same),
    live: [...AT_ONCE, ...FROM_THE_START.filter((key) => !atStart.includes(key)), ...keysOfFeatures('live')].filter(
      differs,
    ),
    restart: [...AT_START.filter(differs), ...keysOfFeatures('restart').filter(differs), ...atStart],
  };
}

const LIVE_SETTINGS: ReadonlySet<string> = new Set(
  Object.entries(SERVER_FEATURE_KEYS).flatMap(([name, { apply }]) => (apply === 'live' ? [name] : [])),
);

/** The settings that decide how a server is opened, and its address. */
function openingOf(server: ServerConfig): object {
  return Object.fromEntries(Object.entries(running(server)).filter(([name]) => !LIVE_SETTINGS.has(name)));
}

/** The keys of features that take effect then. */
export function keysOfFeatures(apply: 'live' | 'restart'): (keyof typeof FEATURE_KEYS)[] {
  const keys = Object.keys(FEATURE_KEYS) as (keyof typeof FEATURE_KEYS)[];
  return keys.filter((key) => FEATURE_KEYS[key].apply === apply);
}

/** The order of servers counts, too: it decides which one keeps a name. */
export function isSameConfig(previous: ParleyConfig, next: ParleyConfig): boolean {
  return isDeepStrictEqual(previous, next) && Object.keys(previous.servers).join() === Object.keys(next.servers).join();
}

/** A description is for people, so changing it restarts nothing. */
function running({ description: _, ...server }: { description?: string }): object {
  return server;
}
