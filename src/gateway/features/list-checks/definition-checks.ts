// The checks of what one server lists, and of what is used of it. They are loaded when something is listed for the first time, or used while
// something may be held back.
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { kindNamedBy, nameIn, readRef } from '../../../kernel/named-thing.ts';
import type { ServerView } from '../../../kernel/server-view.ts';
import { COMPLETE_ARGUMENT } from '../../../kernel/methods.ts';
import type { CheckedLists, CheckedListsOptions } from './checked-lists.ts';
import type { HeldDefinitions, LoadHeldDefinitions } from './held-definitions.ts';

interface DefinitionChecksOptions extends CheckedListsOptions {
  /** Undefined: nothing is held back. */
  held?: LoadHeldDefinitions | undefined;
}

type ChangedKind = 'tools' | 'prompts' | 'resources';
type CalledArea = 'tools' | 'prompts';
/** Fetches a whole list, which is checked as it comes. */
type FetchList = (method: string, client: ClientView) => Promise<unknown>;

interface LoadedChecks {
  lists: CheckedLists;
  held: HeldDefinitions | undefined;
}

export class DefinitionChecks {
  readonly #options: DefinitionChecksOptions;
  readonly #listeners = new Set<(kind: ChangedKind) => void>();
  /** What was listed since the server last reported a change. */
  readonly #fresh = new Set<string>();
  readonly #listing = new Map<CalledArea, Promise<unknown>>();
  #loading: Promise<LoadedChecks> | undefined;
  #loaded: LoadedChecks | undefined;

  constructor(options: DefinitionChecksOptions) {
    this.#options = options;
  }

  /** Whether something may be held back. */
  get isJudging(): boolean {
    return this.#options.held !== undefined;
  }

  /** What was found, a line for each. */
  get reports(): readonly string[] {
    const { lists, held } = this.#loaded ?? {};
    return [...(lists?.reports ?? []), ...(held?.reports ?? [])];
  }

  /** What is held back, by name, and why. */
  heldBack(area: CalledArea): ReadonlyMap<string, Error> | undefined {
    return this.#loaded?.held?.heldBack(area);
  }

  /** The page of a list as clients may see it. */
  async check(exchange: Exchange, page: JsonObject, server: ServerView): Promise<JsonObject> {
    const { lists, held } = this.#loaded ?? (await (this.#loading ??= this.#load()));
    if (exchange.params.cursor === undefined) this.#fresh.add(exchange.method);
    return lists.checkPage({ exchange, page, server }, held);
  }

  /**
   * Rejects if what the request uses is held back. Undefined if it may continue at once, as it nearly always may. A call that comes before the
   * list waits for it: only the list shows whether something has changed.
   */
  admit(exchange: Exchange, list: FetchList): Promise<void> | undefined {
    const area = areaUsedBy(exchange.method);
    const name = area && nameUsedBy(exchange);
    if (area === undefined || name === undefined) return undefined;
    const { held } = this.#loaded ?? {};
    if (held && this.#fresh.has(`${area}/list`)) return held.isHeld(area, name) ? this.#refuse(area, name) : undefined;
    return this.#listed(area, exchange.client, list).then(() => this.#refuse(area, name));
  }

  /** The server has reported a change, or is another process now. */
  outdate(kind: ChangedKind): void {
    this.#fresh.delete(`${kind}/list`);
  }

  /** Calls back when lists have changed because something was accepted. */
  onAccepted(listener: (kind: ChangedKind) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#loaded?.held?.close();
  }

  async #refuse(area: CalledArea, name: string): Promise<void> {
    const { held } = this.#loaded ?? (await (this.#loading ??= this.#load()));
    const refusal = held?.refusal(area, name);
    if (refusal) throw refusal;
  }

  /** If it cannot be listed, what is known from before counts. */
  #listed(area: CalledArea, client: ClientView, list: FetchList): Promise<unknown> {
    const method = `${area}/list`;
    const known = this.#listing.get(area);
    if (known) return known;
    const listing = list(method, client)
      .catch(() => {})
      .then(() => {
        this.#fresh.add(method);
        this.#listing.delete(area);
      });
    this.#listing.set(area, listing);
    return listing;
  }

  async #load(): Promise<LoadedChecks> {
    const { held: load, ...options } = this.#options;
    const { server, log } = options;
    const { CheckedLists } = await import('./checked-lists.ts');
    const onAccepted = (area: string): void => {
      const kind = area === 'resourceTemplates' ? 'resources' : area;
      if (kind === 'instructions') return;
      for (const listener of this.#listeners) listener(kind as ChangedKind);
    };
    const held = await load?.({ server, log, onAccepted });
    return (this.#loaded ??= { lists: new CheckedLists(options), held });
  }
}

function areaUsedBy(method: string): CalledArea | undefined {
  if (method === COMPLETE_ARGUMENT) return 'prompts';
  const kind = kindNamedBy(method);
  return kind === 'tool' || kind === 'prompt' ? `${kind}s` : undefined;
}

function nameUsedBy({ method, params }: Exchange): string | undefined {
  if (method !== COMPLETE_ARGUMENT) return nameIn(method, params);
  const about = readRef(params);
  return 'prompt' in about ? about.prompt : undefined;
}
