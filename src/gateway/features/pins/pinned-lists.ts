// Compares each list of one server with what is pinned, takes out what is held back, and refuses its use: lists and calls ask the same sets.
// 1. A page that says nothing new costs digests and no write.
// 2. Differences are logged and recorded once, and stay in the reports until somebody accepts them.
// 3. An accept by `parley pins` is noticed while something waits for it, and at the next use of it.
// 4. What happens if the file or the state of the pins cannot be used is in pin-store.ts.
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { ServerView } from '../../../kernel/server-view.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { MAX_PINS } from '../../../kernel/base/limits.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { State } from '../../../kernel/state/state.ts';
import { shorten, visible } from '../../../kernel/base/visible.ts';
import { installedPackage } from './installed-package.ts';
import type { StartedCommand } from './installed-package.ts';
import {
  pinFile,
  pinFolder,
  withoutValues,
  addListing,
  pinDigest,
  acceptedForms,
  isInRecord,
  isRemoved,
  isWaiting,
  keyOf,
  listingKey,
  replacedForm,
  toListed,
  waitingForms,
} from './pin-record.ts';
import type { SeenPage, ListedDefinition } from './pin-record.ts';
import { OwnListings } from './own-listings.ts';
import { pinsInFile, pinsInState } from './pin-store.ts';
import type { ChangePins, PinStore } from './pin-store.ts';
import type { Pin, PinArea, PinForm, PinRecord } from './pin.ts';
import { isHeld } from './pin-policy.ts';
import type { HeldDefinitions, ListedPage } from '../list-checks/held-definitions.ts';
import type { PinPolicy } from './pin-policy.ts';

export interface PinnedListsOptions {
  gateway: string;
  server: string;
  /** The command and its arguments, or the URL. */
  address: string;
  /** Another address is another server: nobody has given it a name. */
  isByAddress?: boolean | undefined;
  /** Which package it runs is looked up on disk. */
  command?: StartedCommand | undefined;
  policy: PinPolicy;
  /** Where pins are in files. */
  stateFolder: string | undefined;
  /** Where they are for several gateways. With neither, pins last as long as the process. */
  state?: State | undefined;
  log: Log;
  clock: Clock;
  events?: EventHub | undefined;
  /** Every user has an account there, and may see other tools. */
  isPerUser?: boolean | undefined;
  /** Called when something was accepted. */
  onAccepted: (area: PinArea) => void;
}

/** A list of several pages, between two of them. */
interface OpenListing {
  isBaseline: boolean;
  names: ReadonlySet<string>;
  /** When its first page came. */
  since: number;
}

interface AddOptions {
  /** Undefined for a first page, which decides it. */
  isBaseline: boolean | undefined;
  info: string;
  /** Called when the record has the page, and nothing later. */
  decide: () => void;
}

const MAX_OPEN = 100;
const MAX_REPORTS = 200;
const POLL_MS = 500;
/** The time that the pages of a baseline have: a server cannot leave one open, and go on with it later. */
const BASELINE_MS = 60_000;
const KINDS = ['elicitation', 'roots', 'sampling', 'tasks'] as const;

export class PinnedLists implements HeldDefinitions {
  readonly #options: PinnedListsOptions;
  readonly #store: PinStore | undefined;
  readonly #open = new BoundedMap<string, OpenListing>(MAX_OPEN);
  readonly #told = new BoundedMap<string, true>(10 * MAX_REPORTS);
  #record: PinRecord;
  readonly #own = new OwnListings();
  /** The package, with its version, as it was when a list began. */
  #program: string | undefined;
  #held: Record<string, Set<string>> = {};
  /** Why those are held; made when somebody asks. */
  #refusals: Record<string, ReadonlyMap<string, GatewayError>> = {};
  #isFull = false;
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #endWatch: (() => void) | undefined;
  /** One write after the other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: PinnedListsOptions) {
    this.#options = options;
    this.#record = this.#emptyRecord();
    this.#store = this.#openStore();
    this.#reload();
    this.#endWatch = this.#store?.watch?.(() => this.#reload());
  }

  #openStore(): PinStore | undefined {
    const { stateFolder, state } = this.#options;
    if (state?.isShared) return pinsInState(state, this.#record.server);
    return stateFolder === undefined ? undefined : pinsInFile(pinFile(pinFolder(stateFolder), this.#record));
  }

  /** The names that may be shown. */
  async check(page: ListedPage): Promise<ReadonlySet<string>> {
    const { area, cursor } = page;
    const { command } = this.#options;
    await this.#store?.load();
    this.#reload();
    if (command && cursor === undefined) this.#program = installedPackage(command);
    const shown = await this.#note(page);
    if (area === 'tools' && cursor === undefined)
      await this.#note({ ...page, ...instructionsOf(page), nextCursor: undefined });
    return shown;
  }

  /** What a full record has no room for is held, too. */
  isHeld(area: PinArea, name: string): boolean {
    if (this.#held[area]?.has(name)) return true;
    return this.#isFull && !this.#pin(area, name);
  }

  /** Why this cannot be used now; it looks whether it was accepted meanwhile. */
  refusal(area: PinArea, name: string): GatewayError | undefined {
    if (!this.isHeld(area, name)) return undefined;
    this.#reload();
    return this.isHeld(area, name) ? this.#refusal(area, name) : undefined;
  }

  /** What is held, by name, and why. */
  heldBack(area: PinArea): ReadonlyMap<string, GatewayError> {
    if (this.#held[area] !== undefined) this.#reload();
    return (this.#refusals[area] ??= new Map(
      [...(this.#held[area] ?? [])].map((name) => [name, this.#refusal(area, name)]),
    ));
  }

  /** What waits to be accepted, a line for each. */
  get reports(): string[] {
    return this.#waiting.slice(0, MAX_REPORTS).map((pin) => {
      const held = isHeld(pin, this.#options.policy) ? ', held back' : '';
      return `${pin.area} ${visible(shorten(pin.name))}: ${newsOf(pin)[1]}${held}; parley pins diff ${this.#options.server}`;
    });
  }

  close(): void {
    this.#endWatch?.();
    clearInterval(this.#timer);
  }

  #refusal(area: PinArea, name: string): GatewayError {
    const pin = this.#pin(area, name);
    const what = pin && acceptedForms(pin).length === 0 ? 'is new' : 'has changed';
    return new GatewayError('HELD_BACK', { name, server: this.#options.server, what });
  }

  #pin(area: PinArea, name: string): Pin | undefined {
    return this.#record.pins[keyOf({ area, name })];
  }

  get #pins(): Pin[] {
    return Object.values(this.#record.pins);
  }

  get #waiting(): Pin[] {
    return this.#pins.filter(isWaiting);
  }

  /** Decided before another page is noted: that may list the same name differently, and would decide for this one. */
  async #note(page: ListedPage): Promise<ReadonlySet<string>> {
    const { area, server, cursor, nextCursor } = page;
    const now = this.#options.clock.now();
    const about = { area, listing: listingKey(server.dialect, kindOf(page.client)) };
    const more = { at: new Date(now).toISOString(), program: this.#program };
    const entries = page.entries.map(({ name, entry, isSuspicious }) =>
      toListed(name, entry, { ...more, isSuspicious }),
    );
    const key = (at: unknown): string => `${area} ${about.listing} ${JSON.stringify(at)}`;
    const before = cursor === undefined ? undefined : this.#open.get(key(cursor));
    this.#open.delete(key(cursor));
    const names = new Set([...(before?.names ?? []), ...entries.map(({ name }) => name)]);
    const isWhole = nextCursor === undefined && (cursor === undefined || before !== undefined);
    const listing = { ...about, entries, names: isWhole && !this.#options.isPerUser ? names : undefined };
    const { since = now } = before ?? {};
    const goesOn = before?.isBaseline === true && now - since < BASELINE_MS;
    let shown: ReadonlySet<string> = new Set();
    const decide = (): void => {
      if (this.#own.note(listing)) this.#judge();
      if (nextCursor === undefined) this.#tell();
      shown = new Set(entries.map(({ name }) => name).filter((name) => !this.isHeld(area, name)));
    };
    const isFirst = cursor === undefined;
    const isBaseline = await this.#add(listing, {
      isBaseline: isFirst ? undefined : goesOn,
      info: toInfo(server),
      decide,
    });
    if (nextCursor !== undefined && names.size <= MAX_PINS)
      this.#open.set(key(nextCursor), { isBaseline, names, since });
    return shown;
  }

  /** Resolves with whether the page belongs to the baseline. */
  #add(listing: Omit<SeenPage, 'isBaseline'>, { isBaseline, info, decide }: AddOptions): Promise<boolean> {
    const isBase = ({ known }: PinRecord): boolean => isBaseline ?? !known.includes(listing.area);
    const whole = { ...listing, isBaseline: isBase(this.#record) };
    const isSame = listing.area !== 'tools' || this.#isOf(info);
    if (isSame && !whole.isBaseline && isInRecord(this.#record, whole)) {
      decide();
      return Promise.resolve(false);
    }
    let isPinned = false;
    const change: ChangePins = (latest = this.#emptyRecord()) => {
      const record = listing.area === 'tools' ? this.#identified(latest, listing.entries, info) : latest;
      isPinned = isBase(record);
      addListing(record, { ...listing, isBaseline: isPinned });
      return record;
    };
    const written = this.#writing.then(() => this.#write(change)).then(decide);
    this.#writing = written.catch(() => {}); // told to the one who wrote it
    return written.then(() => isPinned);
  }

  /** Whether the server is the one that was last seen. */
  #isOf(info: string): boolean {
    const { info: said, address, program } = this.#record;
    return said === info && address === this.#address && (this.#program ?? program) === program;
  }

  async #write(change: ChangePins): Promise<void> {
    const store = this.#store;
    if (store === undefined || this.#hasFailed) return this.#set(change(this.#record));
    try {
      this.#set(withoutValues(await store.update(change)));
    } catch (error) {
      if (store.isTransient) throw error;
      this.#fail(store, error);
      this.#set(change(this.#record));
    }
  }

  #fail({ place }: PinStore, error: unknown): void {
    this.#hasFailed = true;
    this.#options.log.error({ file: place, error }, 'pins.failed');
  }

  /** If the operator has configured another server under the old name, and the two have no tools in common, nothing is compared. */
  #identified(record: PinRecord, entries: readonly ListedDefinition[], info: string): PinRecord {
    const { address, pins } = record;
    const program = this.#program ?? record.program;
    const isMoved = address !== this.#address;
    const isUpdated = record.program !== undefined && record.program !== program;
    const isOther = isMoved && !hasOneOf(pins, entries);
    if (isMoved || isUpdated || (record.info !== undefined && record.info !== info))
      this.#tellIdentity(record, { info, isMoved, ...(isUpdated && { program: [record.program!, program!] }) });
    const next = { ...(isOther ? this.#emptyRecord() : record), address: this.#address, info };
    return program === undefined ? next : { ...next, program };
  }

  get #address(): string {
    return pinDigest(this.#options.address);
  }

  #emptyRecord(): PinRecord {
    const { gateway: name, server, isByAddress } = this.#options;
    const address = this.#address;
    const gateway = isByAddress ? `${name} ${address.slice(0, 8)}` : name;
    return { gateway, server, address, known: [], pins: {} };
  }

  /** Takes what somebody else has written. */
  #reload(): void {
    const store = this.#store;
    if (store === undefined || this.#hasFailed) return;
    try {
      const latest = store.changed();
      if (latest) this.#set(withoutValues(latest));
    } catch (error) {
      this.#fail(store, error);
    }
  }

  #set(record: PinRecord): void {
    const before = this.#record;
    this.#record = record;
    this.#isFull = this.#pins.length >= MAX_PINS;
    this.#judge();
    this.#follow(this.#waiting.length > 0);
    const accepted = Object.values(before.pins).filter((pin) => {
      const next = record.pins[keyOf(pin)];
      const now = new Set(next && acceptedForms(next).map(({ digest }) => digest));
      return waitingForms(pin).some(({ digest }) => now.has(digest));
    });
    for (const pin of accepted) this.#report('accepted', pin, {});
    for (const area of new Set(accepted.map(({ area }) => area))) this.#options.onAccepted(area);
  }

  #judge(): void {
    this.#held = {};
    this.#refusals = {};
    for (const pin of this.#own.pinsWith(this.#record))
      if (isHeld(pin, this.#options.policy)) (this.#held[pin.area] ??= new Set()).add(pin.name);
  }

  /** Looks for an accept, while there is something to accept. */
  #follow(isNeeded: boolean): void {
    if (!isNeeded || this.#store === undefined || this.#endWatch) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    } else this.#timer ??= setInterval(() => this.#reload(), POLL_MS).unref();
  }

  #tell(): void {
    for (const pin of this.#waiting.slice(0, MAX_REPORTS)) {
      for (const form of isRemoved(pin) ? [undefined] : waitingForms(pin)) {
        const key = `${keyOf(pin)} ${form?.digest ?? 'removed'}`;
        if (this.#told.get(key)) continue;
        this.#told.set(key, true);
        this.#report(newsOf(pin)[0], pin, { ...listedFor(form), held: isHeld(pin, this.#options.policy) }, form);
      }
    }
  }

  #report(event: string, pin: Pin, more: JsonObject, form = waitingForms(pin).at(-1)): void {
    const { server, log, events } = this.#options;
    const { area, name, like } = pin;
    const shown = visible(shorten(name));
    const details = { area, ...(like !== undefined && { like: visible(shorten(like)) }), ...more };
    const before = replacedForm(pin);
    const digests = { ...(before && { before: before.digest }), ...(form && { digest: form.digest }) };
    events?.tell({ kind: 'definition', server, name: shown, outcome: event, details: { ...details, ...digests } });
    log.warn({ server, name: shown, ...details }, `definition.${event}`);
  }

  #tellIdentity({ info: before }: PinRecord, now: { info: string; isMoved: boolean; program?: string[] }): void {
    const { server, log, events } = this.#options;
    const details = { ...(before !== undefined && { before: visible(before) }), ...now, info: visible(now.info) };
    events?.tell({ kind: 'definition', server, outcome: 'identity', details });
    log.warn({ server, ...details }, 'definition.identity');
  }
}

/** What has happened to a definition, as the log and as people call it. */
function newsOf(pin: Pin): [event: string, words: string] {
  if (isRemoved(pin)) return ['removed', 'was removed'];
  if (acceptedForms(pin).length > 0) return ['changed', 'has changed'];
  if (pin.like === undefined) return ['new', 'is new'];
  return ['renamed', `is new, and the same as ${visible(shorten(pin.like))}`];
}

/** In which era it is listed, and for clients that can do what. */
function listedFor(form: PinForm | undefined): JsonObject {
  const [era, kind] = form?.listings.at(-1)?.split(' ') ?? [];
  return { ...(era && { era }), ...(kind && { clients: kind }) };
}

/** Whether one of the entries has a name that is pinned. */
function hasOneOf(pins: PinRecord['pins'], entries: readonly ListedDefinition[]): boolean {
  const names = new Set(entries.map(({ name }) => name));
  return Object.values(pins).some((pin) => names.has(pin.name));
}

function kindOf({ capabilities }: ListedPage['client']): string {
  return KINDS.filter((one) => isObject(capabilities[one as 'roots'])).join('+');
}

function toInfo({ info: { name, version } }: ServerView): string {
  return shorten(`${name} ${version}`);
}

/** What a server says at the start, as a list of one. */
function instructionsOf({ server: { instructions } }: ListedPage): Pick<ListedPage, 'area' | 'entries'> {
  const entries =
    instructions === undefined ? [] : [{ name: 'instructions', entry: { instructions }, isSuspicious: false }];
  return { area: 'instructions', entries };
}
