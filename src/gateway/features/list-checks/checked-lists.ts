// Checks what a server lists before anybody sees it.
// 1. A malformed entry is dropped, never the whole list. Hidden characters are removed; an entry with hidden characters in its name is dropped.
// 2. A name counts once in a list: the first entry stays, and further ones are dropped.
// 3. A page has a limit, which comes first: what is beyond it is neither checked nor compared.
// 4. What is only suspicious is reported, and stays.
// 5. Everything is logged once, however often it is listed, up to a limit for each server.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { AREA_BY_LIST_METHOD } from '../../../kernel/methods.ts';
import type { ListArea } from '../../../kernel/methods.ts';
import { callerOfClient } from '../../../kernel/exchange.ts';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import type { ServerView } from '../../../kernel/server-view.ts';
import { MAX_PAGE_ENTRIES, MAX_PAGE_RESOURCES } from '../../../kernel/base/limits.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { shorten, visible } from '../../../kernel/base/visible.ts';
import {
  cleanEntry,
  nameOf,
  malformedIn,
  withSchemaObjects,
  withoutNulls,
  withSafeIcons,
  softFindings,
} from './entry-checks.ts';
import { KnownNames, UniqueNames } from './listed-names.ts';
import type { HeldDefinitions } from './held-definitions.ts';

export interface CheckedListsOptions {
  server: string;
  /** All servers of the gateway, as they are now. */
  servers: () => readonly string[];
  log: Log;
  /** The names of all servers; without it, those of this server alone. */
  names?: KnownNames | undefined;
}

/** One page of a list on its way from the server. */
interface PageFromServer {
  exchange: Pick<Exchange, 'method' | 'params' | 'client'>;
  page: JsonObject;
  server: ServerView;
}

/** Which page was asked for, and by whom. */
interface AskedPage {
  /** Undefined: the first one. */
  cursor?: unknown;
  caller?: string | undefined;
}

/** More than anybody reads; what comes after that is counted by nobody. */
const MAX_REPORTS = 200;

export class CheckedLists {
  readonly #options: CheckedListsOptions;
  readonly #reports = new Map<string, string>();
  readonly #names: KnownNames;
  readonly #listed = new UniqueNames();
  /** Entries of checked pages in which something was found. */
  readonly #suspicious = new WeakSet<JsonObject>();

  constructor(options: CheckedListsOptions) {
    this.#options = options;
    this.#names = options.names ?? new KnownNames();
  }

  /** What was found, a line for each. */
  get reports(): string[] {
    return [...this.#reports.values()];
  }

  /** The page without malformed and hidden parts, and without what is held back. */
  async checkPage({ exchange, page, server }: PageFromServer, held: HeldDefinitions | undefined): Promise<JsonObject> {
    const { method, params, client } = exchange;
    const clean = this.check(method, page, { cursor: params.cursor, caller: callerOf(client, server) });
    const area = AREA_BY_LIST_METHOD.get(method);
    const listed = area && clean[area];
    // Resources are data, and change all the time.
    if (!held || !area || area === 'resources' || !Array.isArray(listed)) return clean;
    const entries = listed.filter(isObject).map((entry) => ({
      name: nameOf(area, entry),
      entry,
      isSuspicious: this.#suspicious.has(entry),
    }));
    const { nextCursor } = clean;
    const shown = await held.check({ area, entries, client, server, cursor: params.cursor, nextCursor });
    if (entries.every(({ name }) => shown.has(name))) return clean;
    return { ...clean, [area]: entries.filter(({ name }) => shown.has(name)).map(({ entry }) => entry) };
  }

  /** The page of a list as clients may see it; the same object if nothing is wrong. */
  check(method: string, page: JsonObject, { cursor, caller = '' }: AskedPage = {}): JsonObject {
    const area = AREA_BY_LIST_METHOD.get(method);
    if (!area || !Array.isArray(page[area])) return page;
    const listed = this.#cut(area, page[area]);
    if (area === 'tools') this.#names.learn(this.#options.server, listed, cursor === undefined);
    const checked = listed.flatMap((entry: unknown): JsonObject[] => {
      const clean = this.#checkEntry(area, entry);
      return clean ? [clean] : [];
    });
    const entries = this.#listed.once(
      checked,
      { list: `${area} ${caller}`, cursor, nextCursor: page.nextCursor },
      { nameOf: (entry) => nameOf(area, entry), onTwice: (name) => this.#drop(area, name, 'its name is listed twice') },
    );
    const isSame = entries.length === page[area].length && entries.every((entry, index) => entry === listed[index]);
    return isSame ? page : { ...page, [area]: entries };
  }

  #cut(area: ListArea, listed: readonly unknown[]): readonly unknown[] {
    const most = area === 'resources' ? MAX_PAGE_RESOURCES : MAX_PAGE_ENTRIES;
    if (listed.length <= most) return listed;
    this.#drop(area, '', `a page has more than ${most} entries, which are left out`);
    return listed.slice(0, most);
  }

  #checkEntry(area: ListArea, given: unknown): JsonObject | undefined {
    if (!isObject(given)) return this.#drop(area, '', 'it is not an object');
    const entry = withSchemaObjects(withoutNulls(area, given));
    const fault = malformedIn(area, entry);
    if (fault !== undefined) return this.#drop(area, nameOf(area, entry), `${fault} is missing or wrong`);
    const visibly = cleanEntry(area, entry);
    const name = nameOf(area, entry);
    if (!visibly) return this.#drop(area, name, 'a name has hidden characters');
    if (name === '') return this.#drop(area, name, 'its name is empty');
    const clean = withSafeIcons(visibly);
    if (clean !== visibly)
      this.#report({ area, name, event: 'definition.cleaned', what: 'an icon that is not a safe picture was removed' });
    if (visibly !== entry)
      this.#report({ area, name, event: 'definition.cleaned', what: 'hidden characters were removed' });
    const { server, servers } = this.#options;
    const isLikeAnother = (own: string): boolean => area === 'tools' && this.#names.isLikeAnother(own);
    for (const finding of softFindings(name, clean, { server, servers: servers(), isLikeAnother })) {
      this.#suspicious.add(clean);
      this.#report({ area, name, event: 'definition.flagged', what: finding });
    }
    return clean;
  }

  #drop(area: ListArea, name: string, what: string): undefined {
    this.#report({ area, name, event: 'definition.dropped', what });
    return undefined;
  }

  #report({ area, name, event, what }: { area: ListArea; name: string; event: string; what: string }): void {
    const shown = visible(shorten(name));
    const line = `${area} ${shown}: ${what}`;
    if (this.#reports.has(line) || this.#reports.size >= MAX_REPORTS) return;
    this.#reports.set(line, line);
    this.#options.log.warn({ server: this.#options.server, area, name: shown, what }, event);
  }
}

/** Callers may get lists of their own, and cursors that are the same. */
function callerOf(client: ClientView, { dialect }: ServerView): string {
  return JSON.stringify([callerOfClient(client), client.connection?.session, dialect]);
}
