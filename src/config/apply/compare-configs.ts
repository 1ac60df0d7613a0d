// Compares two configurations: which servers must restart, and what else changed.
import { isDeepStrictEqual } from 'node:util';
import { FEATURE_KEYS } from '../../gateway/features/config.ts';
import { enabledServers } from '../config.ts';
import type { ParleyConfig } from '../config.ts';

export interface ConfigDifference {
  /** Names of servers. A disabled server counts as removed. */
  added: string[];
  removed: string[];
  changed: string[];
  unchanged: string[];
  steps: boolean;
  groups: boolean;
  names: boolean;
  roots: boolean;
  /** Keys of features that take effect at once. */
  live: (keyof typeof FEATURE_KEYS)[];
  /** Keys that take effect at the next start of Parley. */
  restart: (keyof ParleyConfig)[];
}

const AT_START = [
  'listen',
  'limits',
  'keys',
  'ask',
  'publicUrl',
  'auth',
  'startMs',
  'log',
] as const satisfies (keyof ParleyConfig)[];

export function compareConfigs(previous: ParleyConfig, next: ParleyConfig): ConfigDifference {
  const before = new Map(enabledServers(previous));
  const after = new Map(enabledServers(next));
  const both = [...after.keys()].filter((name) => before.has(name));
  const same = (name: string) => isDeepStrictEqual(running(before.get(name)!), running(after.get(name)!));
  const differs = (key: keyof ParleyConfig) => !isDeepStrictEqual(previous[key], next[key]);
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: both.filter((name) => !same(name)),
    unchanged: both.filter(same),
    steps: differs('steps'),
    groups: differs('groups'),
    names: differs('names'),
    roots: differs('roots'),
    live: keysOfFeatures('live').filter(differs),
    restart: [
      ...AT_START.filter(differs),
      ...keysOfFeatures('restart').filter(differs),
      ...(declaresRootsDifferently(previous, next) ? (['roots'] as const) : []),
    ],
  };
}

function keysOfFeatures(apply: 'live' | 'restart'): (keyof typeof FEATURE_KEYS)[] {
  const keys = Object.keys(FEATURE_KEYS) as (keyof typeof FEATURE_KEYS)[];
  return keys.filter((key) => FEATURE_KEYS[key].apply === apply);
}

/** Servers learn only once, at the start, whether roots exist. */
function declaresRootsDifferently(previous: ParleyConfig, next: ParleyConfig): boolean {
  return (previous.roots === undefined) !== (next.roots === undefined);
}

/** The order of servers counts, too: it decides which one keeps a name. */
export function isSameConfig(previous: ParleyConfig, next: ParleyConfig): boolean {
  return isDeepStrictEqual(previous, next) && Object.keys(previous.servers).join() === Object.keys(next.servers).join();
}

/** A description is for people, so changing it restarts nothing. */
function running({ description: _, ...server }: { description?: string }): object {
  return server;
}
