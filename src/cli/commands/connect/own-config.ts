// Adds servers to the user's own configuration. A server that is there already, by whatever name, is not added twice.
import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { toServerName } from '../../../config/check/check-server.ts';
import { findConfig } from '../../../config/read/find-config.ts';
import type { Environment } from '../../../config/read/find-config.ts';
import { readConfig } from '../../../config/read/load-config.ts';
import { userFolder } from '../../../kernel/secrets/own-folders.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { UneditableFile, editClientText, readClientText } from './client-edit.ts';

const NEW_CONFIG = `// The servers of Parley. "parley check" finds mistakes in this file; docs/config.md has all keys.
{
  "mcpServers": {}
}
`;

/** The file that is there, or the one to make. */
export function ownConfigPath(environment: Environment): string {
  const folder = userFolder(environment);
  const { path } = existsSync(folder) ? findConfig(folder, environment) : { path: undefined };
  return path ?? join(folder, 'parley.config.jsonc');
}

export interface WantedServer {
  name: string;
  server: JsonObject;
  /** The id of its client, for a name that is taken. */
  from: string;
}

/** The changed text, and the name that each server has there. Throws an UneditableFile. */
export function addToOwnConfig(
  { path, text }: { path: string; text: string | undefined },
  wanted: readonly WantedServer[],
): { text: string; names: string[] } {
  const before = text === undefined || text.trim() === '' ? NEW_CONFIG : text;
  const format = /^\.ya?ml$/.test(extname(path)) ? 'yaml' : 'json';
  const value = readClientText(before, format);
  const key = ['mcpServers', 'servers', 'mcp_servers'].find((one) => isObject(value[one])) ?? 'mcpServers';
  const present = new Map(Object.entries((value[key] ?? {}) as Record<string, unknown>));
  const add: [string, JsonObject][] = [];
  const names = wanted.map((one) => {
    const { name, isThere } = nameFor(one, present);
    if (!isThere) {
      present.set(name, one.server);
      add.push([name, one.server]);
    }
    return name;
  });
  if (add.length === 0) return { text: text ?? before, names };
  return { text: editClientText(before, { format, key: [key], isList: false, remove: [], add }), names };
}

function nameFor(
  { name, server, from }: WantedServer,
  present: ReadonlyMap<string, unknown>,
): { name: string; isThere: boolean } {
  const plain = toServerName(name) === '' ? 'server' : toServerName(name);
  const same = [...present].find(([other, entry]) => isSameName(other, plain) && isSameServer(entry, server));
  if (same) return { name: same[0], isThere: true };
  const taken = new Set([...present.keys()].map((one) => toServerName(one).toLowerCase()));
  for (let tries = 0; ; tries++) {
    const tried = tries === 0 ? plain : tries === 1 ? `${plain}-${from}` : `${plain}-${from}-${tries}`;
    if (!taken.has(tried.toLowerCase())) return { name: tried, isThere: false };
    const entry = [...present].find(([other]) => toServerName(other).toLowerCase() === tried.toLowerCase());
    if (entry && isSameServer(entry[1], server)) return { name: entry[0], isThere: true };
  }
}

/** Whether the entry starts the same server. It may have rules that the client's has not: a copy without them would be a way around. */
function isSameServer(entry: unknown, server: JsonObject): boolean {
  if (!isObject(entry)) return false;
  const isKept = Object.entries(server).every(([key, value]) => isDeepStrictEqual(entry[key], value));
  return isKept && Object.keys(entry).every((key) => key in server || RULES.has(key));
}

/** Settings of a server that say nothing of what it is. */
const RULES: ReadonlySet<string> = new Set(['tools', 'rate', 'pins', 'sandbox', 'trustAnnotations', 'share']);

function isSameName(one: string, other: string): boolean {
  return toServerName(one) === other;
}

/** Throws if the configuration has an error: then no client may depend on it. */
export function requireUsable(path: string, text: string, environment: Environment): void {
  const { problems } = readConfig({ path, text }, environment);
  const error = problems.find(({ level }) => level === 'error');
  if (error)
    throw new UneditableFile(
      `it has an error${error.line === undefined ? '' : ` in line ${error.line}`}: ${error.message}`,
    );
}
