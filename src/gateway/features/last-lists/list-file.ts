// The last lists of one server, in a file of the state folder.
// 1. They are hints, not proof: a file that is damaged, too large, of another command or URL, or writable by others counts as none.
// 2. Lists of a server with an account for each user are shown to that user alone, and those of callers without a name are not kept.
// 3. It is written only when a list has changed; the last write wins.
import { MAX_LIST_FILE_BYTES, MAX_LISTS_KEPT } from '../../../kernel/base/limits.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { isAnonymous } from '../../../kernel/base/anonymous.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { readIfThere, writePrivateFile } from '../../../kernel/files/private-file.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { ListArea } from '../../../kernel/methods.ts';
import type { KnownList, LastLists, ListReader } from '../../router/last-lists.ts';

interface ListFileOptions {
  path: string;
  /** What the lists are of: another command or URL has other ones. */
  of: string;
  isPerUser: boolean;
  log: Log;
}

/** Resources are data, which changes all the time. */
const KEPT: ReadonlySet<ListArea> = new Set(['tools', 'prompts']);
const VERSION = 1;

export class ListFile implements LastLists {
  readonly #options: ListFileOptions;
  /** As JSON, by area and user. */
  #lists: BoundedMap<string, string> | undefined;
  #isSaving = false;

  constructor(options: ListFileOptions) {
    this.#options = options;
  }

  read(area: ListArea, client: ListReader): Promise<KnownList | undefined> {
    const key = this.#keyOf(area, client);
    const text = key === undefined ? undefined : this.#known.get(key);
    return Promise.resolve(text === undefined ? undefined : (JSON.parse(text) as KnownList));
  }

  note(area: ListArea, client: ListReader, { entries, isPrivate, more }: KnownList): void {
    const key = this.#keyOf(area, client);
    if (key === undefined) return;
    const text = JSON.stringify({ entries, isPrivate, more });
    if (this.#known.get(key) === text) return;
    if (text.length > MAX_LIST_FILE_BYTES / 2) this.#known.delete(key);
    else this.#known.set(key, text);
    // The lists of several areas come shortly one after the other.
    if (this.#isSaving) return;
    this.#isSaving = true;
    setImmediate(() => this.#save());
  }

  /** Undefined: such a list is not kept. */
  #keyOf(area: ListArea, { principal = '' }: ListReader): string | undefined {
    if (!KEPT.has(area)) return undefined;
    if (!this.#options.isPerUser) return JSON.stringify([area, '']);
    return principal === '' || isAnonymous(principal) ? undefined : JSON.stringify([area, principal]);
  }

  get #known(): BoundedMap<string, string> {
    return (this.#lists ??= this.#load());
  }

  #load(): BoundedMap<string, string> {
    const { path, of, log } = this.#options;
    const lists = new BoundedMap<string, string>(MAX_LISTS_KEPT);
    try {
      const kept = readKept(readIfThere(path), of);
      for (const [key, list] of kept) lists.set(key, JSON.stringify(list));
    } catch (error) {
      log.warn({ path, error }, 'last-lists.unreadable');
    }
    return lists;
  }

  #save(): void {
    this.#isSaving = false;
    const { path, of, log } = this.#options;
    const lists = [...this.#known.entries()].map(([key, text]) => `${JSON.stringify(key)}:${text}`);
    const text = `{"version":${VERSION},"of":${JSON.stringify(of)},"lists":{${lists.join(',')}}}\n`;
    try {
      writePrivateFile(path, text.length > MAX_LIST_FILE_BYTES ? '{}\n' : text);
    } catch (error) {
      log.warn({ path, error }, 'last-lists.not-kept');
    }
  }
}

function readKept(text: string | undefined, of: string): [string, KnownList][] {
  if (text === undefined || text.length > MAX_LIST_FILE_BYTES) return [];
  const kept = JSON.parse(text) as unknown;
  if (!isObject(kept) || kept['version'] !== VERSION || kept['of'] !== of || !isObject(kept['lists'])) return [];
  return Object.entries(kept['lists']).flatMap(([key, list]): [string, KnownList][] => {
    if (!isObject(list) || !Array.isArray(list['entries']) || !list['entries'].every(isNamed)) return [];
    const more = isObject(list['more']) ? list['more'] : undefined;
    return [[key, { entries: list['entries'], isPrivate: list['isPrivate'] !== false, ...(more && { more }) }]];
  });
}

function isNamed(entry: unknown): entry is JsonObject {
  return isObject(entry) && typeof entry['name'] === 'string';
}
