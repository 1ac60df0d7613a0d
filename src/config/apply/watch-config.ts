// Watches the files of a configuration and reloads it when they change. Invariants:
// 1. A configuration with errors changes nothing: the current one stays, and the problems are reported once.
// 2. Changes are applied one after another; if one fails, or the files cannot be looked at, the current configuration stays.
// 3. Files are compared by their text, not by events, so that replaced files, swapped links and changes right after loading are all seen.
// Node's own watching would miss them.
import { MAX_CONFIG_FILE_BYTES } from '../../kernel/base/limits.ts';
import { readRegularFile } from '../read/read-regular-file.ts';
import { setTimeout } from 'node:timers/promises';
import { compareConfigs, isSameConfig } from './compare-configs.ts';
import type { ConfigDifference } from './compare-configs.ts';
import type { ParleyConfig } from '../config.ts';
import { loadConfig } from '../read/load-config.ts';
import { loadSeveral } from '../read/load-several.ts';
import type { LoadedConfig, LoadOptions } from '../read/load-config.ts';
import { ConfigProblems } from '../check/config-problems.ts';
import type { ConfigProblem } from '../check/config-problems.ts';

export interface ConfigChange {
  previous: ParleyConfig;
  next: ParleyConfig;
  difference: ConfigDifference;
  loaded: LoadedConfig;
}

export interface WatchOptions extends LoadOptions {
  /** Applies the change. If it throws, the current configuration stays and the reason is reported as a problem. */
  onChange(change: ConfigChange): Promise<unknown> | void;
  /** Called if the new configuration is unusable; the current one stays. */
  onProblems(problems: ConfigProblem[]): void;
  /** Further files whose changes cause a reload. */
  besides?: readonly string[] | undefined;
  intervalMs?: number | undefined;
}

export interface ConfigWatch {
  /** The configuration that runs now. */
  readonly current: LoadedConfig;
  /** Checks the files now, without waiting for the next interval. */
  check(): Promise<void>;
  close(): void;
}

/** `loaded` is the running configuration, with a path. */
export function watchConfig(loaded: LoadedConfig, options: WatchOptions): ConfigWatch {
  return new Watch(loaded, options);
}

const INTERVAL_MS = 500;
const SETTLE_MS = 100;

class Watch implements ConfigWatch {
  current: LoadedConfig;
  readonly #first: ParleyConfig;
  readonly #options: WatchOptions;
  readonly #watched = new Set<string>();
  /** Text of each file at the last check. */
  #seen: Map<string, string | undefined>;
  #queue: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(loaded: LoadedConfig, options: WatchOptions) {
    this.current = loaded;
    this.#first = loaded.config!;
    this.#options = options;
    const watched = [...loaded.files, ...(options.besides ?? [])];
    this.#seen = snapshot(watched);
    this.#follow(watched);
    this.#timer = setInterval(() => void this.check(), options.intervalMs ?? INTERVAL_MS).unref();
  }

  check(): Promise<void> {
    this.#queue = this.#queue.then(() => this.#look()).catch((thrown: unknown) => this.#tell(thrown));
    return this.#queue;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const now = snapshot(this.current.files.concat([...this.#watched]));
    const isTouched = [...now].some(([file, text]) => this.#seen.get(file) !== text);
    if (this.#closed || !isTouched) return;
    const loaded = await this.#load();
    this.#follow(loaded.files);
    this.#seen = new Map([...snapshot([...this.#watched]), ...now]);
    if (loaded.config === undefined) this.#options.onProblems(loaded.problems);
    else await this.#change(loaded, loaded.config);
  }

  /** A file that cannot be parsed may be half written, so it gets a second try. */
  async #load(): Promise<LoadedConfig> {
    const loaded = this.#read();
    if (loaded.config !== undefined) return loaded;
    await setTimeout(SETTLE_MS);
    return this.#read();
  }

  #read(): LoadedConfig {
    const { path, parts } = this.current;
    return parts ? loadSeveral(pathsOf(parts), this.#options) : loadConfig(path, this.#options);
  }

  async #change(loaded: LoadedConfig, next: ParleyConfig): Promise<void> {
    const previous = this.current.config!;
    if (isSameConfig(previous, next)) {
      this.current = loaded;
      return;
    }
    try {
      await this.#options.onChange({ previous, next, difference: compareConfigs(previous, next, this.#first), loaded });
      this.current = loaded;
    } catch (thrown) {
      this.#tell(thrown);
    }
  }

  #tell(thrown: unknown): void {
    const problems = new ConfigProblems();
    problems.error([], `cannot be applied: ${(thrown as Error).message}`, 'The previous configuration keeps running.');
    this.#options.onProblems(problems.list);
  }

  #follow(files: string[]): void {
    for (const file of files) this.#watched.add(file);
  }
}

function pathsOf(parts: LoadedConfig[]): string[] {
  return parts.flatMap(({ path }) => path ?? []);
}

function snapshot(files: string[]): Map<string, string | undefined> {
  return new Map(files.map((file) => [file, textOf(file)]));
}

function textOf(file: string): string | undefined {
  try {
    return readRegularFile(file, MAX_CONFIG_FILE_BYTES).toString('utf8');
  } catch {
    return undefined; // gone, perhaps only for now; loading reports it
  }
}
