// Several files as one configuration: the first one says everything, the others bring servers. Each file is read for itself, so that paths, variables and
// positions are its own.
import { isDeepStrictEqual } from 'node:util';
import { ConfigProblems } from '../check/config-problems.ts';
import type { ConfigProblem } from '../check/config-problems.ts';
import { listServers } from '../check/named-server.ts';
import { enabledServers } from '../config.ts';
import type { ParleyConfig, ServerConfig } from '../config.ts';
import { findConfig } from './find-config.ts';
import { NO_SERVER, OWN_KEYS, loadConfig } from './load-config.ts';
import type { LoadedConfig, LoadOptions } from './load-config.ts';

/** What is named twice is read once. */
export function loadSeveral(named: readonly string[], options: LoadOptions): LoadedConfig {
  const paths = [...new Set(named.map((one) => findConfig(one, options).path ?? one))];
  const [name, ...others] = paths;
  if (others.length === 0) return loadConfig(name, options);
  const first = loadConfig(name, { ...options, isPart: true });
  const further = others.map((path) => loadConfig(path, optionsOfFurther(first, options)));
  return putTogether([first, ...further]);
}

/** Steps and rules are around all servers, so the first file alone has them. */
function optionsOfFurther(first: LoadedConfig, options: LoadOptions): LoadOptions {
  const { own } = options;
  const { ownSteps: _steps, ownRules: _rules, ownTrust: _trust, ...rest } = options;
  const listen = first.config?.listen;
  return {
    ...rest,
    isPart: true,
    share: options.share ?? first.read?.input.share,
    own: own && ((default_) => own(listen ? { host: listen.host, port: listen.port } : default_)),
  };
}

export function partsOf(loaded: LoadedConfig): LoadedConfig[] {
  return loaded.parts ?? [loaded];
}

function putTogether(parts: LoadedConfig[]): LoadedConfig {
  const [first, ...further] = parts as [LoadedConfig, ...LoadedConfig[]];
  const clashes = new Clashes(first);
  const checked = [first, ...further.map((part) => withProblems(part, clashes.of(part)))];
  const problems: ConfigProblem[] = checked.flatMap((part) =>
    part.problems.map((problem) => ({ ...problem, file: part.path })),
  );
  const isUsable = checked.every(({ config }) => config !== undefined);
  const config = isUsable ? merged(first.config!, clashes.servers) : undefined;
  if (config && enabledServers(config).length === 0) problems.push(NO_SERVER);
  return {
    ...first,
    config,
    problems,
    parts: checked,
    files: checked.flatMap(({ files }) => files),
    used: mergedMap(checked.map(({ used }) => used)),
    shown: mergedMap(checked.map(({ shown }) => shown)),
    texts: mergedMap(checked.map(({ texts }) => texts)),
    leftOut: checked.reduce((sum, { leftOut }) => sum + leftOut, 0),
  };
}

function merged(config: ParleyConfig, servers: ReadonlyMap<string, ServerConfig>): ParleyConfig {
  return Object.freeze({ ...config, servers: Object.freeze(Object.fromEntries(servers)) });
}

function mergedMap(maps: ReadonlyMap<string, string>[]): Map<string, string> {
  return new Map(maps.flatMap((map) => [...map]));
}

function withProblems(part: LoadedConfig, problems: ConfigProblem[]): LoadedConfig {
  return problems.length === 0 ? part : { ...part, config: undefined, problems: [...part.problems, ...problems] };
}

/** Collects the servers of all files, and finds what cannot be put together. */
class Clashes {
  readonly servers: Map<string, ServerConfig>;
  readonly #first: LoadedConfig;
  /** The path of the file of each server, by name. */
  readonly #owners: Map<string, string | undefined>;

  constructor(first: LoadedConfig) {
    const { config, path } = first;
    this.#first = first;
    this.servers = new Map(Object.entries(config?.servers ?? {}));
    this.#owners = new Map([...this.servers.keys()].map((name) => [name, path]));
  }

  /** Adds the servers of a further file. */
  of({ path, config, read }: LoadedConfig): ConfigProblem[] {
    if (!config || !read) return [];
    const problems = new ConfigProblems(read.places);
    for (const key of Object.keys(read.input).filter((one) => OWN_KEYS.has(one)))
      problems.ofKey([key], { message: 'only the first file may have settings', hint: this.#toFirst() });
    for (const { name, path: at } of listServers(read.input)) {
      const message = this.#add(name, config.servers[name]!, path);
      if (message !== undefined) problems.ofKey(at, { message, hint: RENAME });
    }
    return problems.sorted();
  }

  /** The same server in several files is one. One that is switched off is not there. */
  #add(name: string, server: ServerConfig, path: string | undefined): string | undefined {
    const known = this.servers.get(name);
    if (name in (this.#first.config?.groups ?? {})) return `a group of ${this.#first.path} is called "${name}", too`;
    if (server.disabled && known) return undefined;
    if (known && !known.disabled)
      return isDeepStrictEqual(known, server)
        ? undefined
        : `${this.#owners.get(name)} has a server "${name}", too, and it is another one`;
    this.servers.set(name, server);
    this.#owners.set(name, path);
    return undefined;
  }

  #toFirst(): string {
    return `Move this to ${this.#first.path}, or name this file first.`;
  }
}

const RENAME = 'Rename one of them; or, if they are the same server, write both in the same way.';
