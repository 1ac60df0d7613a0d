// Finds the configuration files of clients, to suggest them to a user who has named none. Counts their servers and starts none.
import { existsSync } from 'node:fs';
import type { Environment } from '../../config/read/find-config.ts';
import { ConfigProblems, SourcePositions } from '../../config/check/config-problems.ts';
import { projectPaths, userPaths } from '../../config/read/client-places.ts';
import { clientTable } from '../../config/client-table.ts';
import { projectServers } from '../../config/read/client-formats.ts';
import { fromForeignBlocks } from '../../config/read/foreign-blocks.ts';
import { parseConfig } from '../../config/read/parse-config.ts';
import { readRegularFile } from '../../config/read/read-regular-file.ts';
import { MAX_CONFIG_FILE_BYTES } from '../../kernel/base/limits.ts';
import { BLOCKS } from '../../config/check/schema.ts';
import { isObject } from '../../kernel/message.ts';
import { programName } from '../program.ts';

interface ClientFile {
  client: string;
  path: string;
  /** As the user would write it: relative to the home or working folder. */
  shown: string;
  /** Number of servers that apply in this folder. */
  servers: number;
}

/** Files that exist and have servers; those of this project first. */
export function clientFiles(environment: Environment): ClientFile[] {
  return placesOf(environment).flatMap(([client, path]) => {
    if (!existsSync(path)) return [];
    const servers = countIn(path, environment.cwd);
    return servers === 0 ? [] : [{ client, path, shown: shownFrom(path, environment), servers }];
  });
}

/** What to do if the user has named no configuration and has none here. */
export function suggestConfigs(environment: Environment): string[] {
  const files = clientFiles(environment);
  const [first] = files;
  const width = Math.max(0, ...files.map(({ shown }) => shown.length));
  return [
    ...(files.length > 0 ? ['These files of clients have servers:'] : []),
    ...files.map(({ shown, servers, client }) => {
      const count = `${servers} server${servers === 1 ? '' : 's'}`;
      return `  ${shown.padEnd(width)}  ${count.padEnd(10)}  ${client}`;
    }),
    ...(first ? [`To serve one of them: ${programName()} serve ${quoted(first.shown)}`] : []),
    ...(first ? [] : [`To try it without any server: ${programName()} demo`]),
    `${first ? 'Or write' : 'To serve your own, write'} parley.config.jsonc here, { "mcpServers": { … } }, and run: ${programName()} serve`,
  ];
}

type Place = [client: string, path: string];

function placesOf(environment: Environment): Place[] {
  const ofProject = clientTable().flatMap((client) =>
    projectPaths(client, environment).map((path): Place => [client.name, path]),
  );
  const all = [...ofProject, ...placesInHome(environment)];
  return all.filter(([, path], index) => all.findIndex(([, other]) => other === path) === index);
}

/** Those of the user, not of the project. */
function placesInHome(environment: Environment): Place[] {
  return clientTable().flatMap((client) => userPaths(client, environment).map((path): Place => [client.name, path]));
}

function countIn(path: string, cwd: string): number {
  const value = fromForeignBlocks(parsed(path) ?? {}, {
    places: new SourcePositions(''),
    problems: new ConfigProblems(),
  });
  const blocks = [...BLOCKS.map((block) => value[block]), projectServers(value).get(cwd)];
  return new Set(blocks.filter(isObject).flatMap((one) => Object.keys(one))).size;
}

function parsed(path: string): Record<string, unknown> | undefined {
  try {
    return parseConfig(
      readRegularFile(path, MAX_CONFIG_FILE_BYTES)
        .toString('utf8')
        .replace(/^\uFEFF/, ''),
      path,
    ).value;
  } catch {
    return undefined; // the user did not name this file, so its errors do not matter
  }
}

function shownFrom(path: string, { home, cwd }: Environment): string {
  if (path.startsWith(`${cwd}/`)) return path.slice(cwd.length + 1);
  return path.startsWith(`${home}/`) ? `~/${path.slice(home.length + 1)}` : path;
}

/** The shell expands a tilde only outside of quotes. */
function quoted(path: string): string {
  return /^[\w@%+=:,./~-]+$/.test(path) ? path : path.replaceAll(/[^\w@%+=:,./~-]/g, '\\$&');
}
