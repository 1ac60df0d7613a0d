// What is pinned of one server, and the file that keeps it: each definition as it was accepted, and as the server lists it now if that is something
// else. Nothing here decides what follows from a difference (pin-policy.ts).
// 1. The first list for each kind of client is the baseline: it is accepted as it is. Later, only a person accepts.
// 2. A pin outlives its tool: one that comes back is compared with what it was.
// 3. What was never accepted is forgotten when it is no longer listed, so a server cannot fill the record with names.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../protocol/message.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { UNAVAILABLE_KEY } from '../../../protocol/target.ts';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import { sha256 } from '../../../shared/crypto/lazy-crypto.ts';
import { MAX_PINS, MAX_PINNED_CHARS, MAX_PIN_FILE_BYTES } from '../../../shared/limits.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { withFileLock } from '../../../shared/files/file-lock.ts';
import { readIfThere, writePrivateFile } from '../../../shared/files/private-file.ts';

export type PinArea = 'tools' | 'prompts' | 'resourceTemplates' | 'instructions';

/** A definition at one time. */
interface PinnedDefinition {
  digest: string;
  /** Of all but the name. */
  likeness: string;
  /** When it was first seen; ISO 8601. */
  at: string;
  isReadOnly?: true;
  /** An offline check found something in it. */
  isSuspicious?: true;
  /** The package that listed it, with its version, as far as the disk shows it. */
  program?: string;
  /** For people; absent if it is too long. */
  value?: JsonObject;
}

export interface Pin {
  era: string;
  area: PinArea;
  name: string;
  /** As accepted; absent if it is new. */
  pinned?: PinnedDefinition;
  /** As listed now, if it was not accepted. */
  seen?: PinnedDefinition;
  /** The pinned name that has the same definition as a new one. */
  like?: string;
  /** Was accepted once as one that may change things. */
  mayChangeThings?: true;
  /** The kinds of clients to whom it is listed; empty if it was removed. */
  kinds: string[];
}

export interface PinRecord {
  /** What the gateway serves: a configuration file, or its name. */
  gateway: string;
  server: string;
  /** A digest of the command and its arguments, or of the URL. */
  address: string;
  /** Name and version, as the server says. */
  info?: string;
  /** The package that was last seen, with its version. */
  program?: string;
  /** Lists that have a baseline: era, area and kind of client. */
  known: string[];
  pins: Record<string, Pin>;
}

/** One page of a list. */
export interface SeenPage {
  era: string;
  area: PinArea;
  /** What the client can do; servers may list more for clients that can be asked. */
  kind: string;
  entries: readonly ListedDefinition[];
  /** Belongs to the first list for this kind of client. */
  isBaseline: boolean;
  /** All names of the list, if this is its last page. */
  names?: ReadonlySet<string> | undefined;
}

export interface ListedDefinition {
  name: string;
  definition: PinnedDefinition;
  /** The whole of it as JSON. */
  text: string;
}

export function toListed(
  name: string,
  entry: JsonObject,
  more: { at: string; isSuspicious: boolean; program: string | undefined },
): ListedDefinition {
  const value = withoutAvailability(entry);
  const text = canonicalJson(value);
  const { name: _, ...nameless } = value;
  const { annotations } = value;
  const isReadOnly = isObject(annotations) && annotations.readOnlyHint === true && annotations.destructiveHint !== true;
  const definition: PinnedDefinition = {
    digest: pinDigest(text),
    likeness: pinDigest(canonicalJson(nameless)),
    at: more.at,
  };
  if (isReadOnly) definition.isReadOnly = true;
  if (more.isSuspicious) definition.isSuspicious = true;
  if (more.program !== undefined) definition.program = more.program;
  return { name, definition, text };
}

function withoutAvailability(entry: JsonObject): JsonObject {
  const { _meta: meta } = entry;
  if (!isObject(meta) || !(UNAVAILABLE_KEY in meta)) return entry;
  const { [UNAVAILABLE_KEY]: _, ...rest } = meta;
  const { _meta: _gone, ...others } = entry;
  return Object.keys(rest).length > 0 ? { ...others, _meta: rest } : others;
}

export function pinDigest(text: string): string {
  return sha256(text, 'base64url');
}

export function keyOf({ era, area, name }: Pick<Pin, 'era' | 'area' | 'name'>): string {
  return `${era} ${area} ${name}`;
}

export function knownKey({ era, area, kind }: Pick<SeenPage, 'era' | 'area' | 'kind'>): string {
  return `${era} ${area} ${kind}`;
}

/** Whether the page says nothing that the record does not have. */
export function isInRecord({ known, pins }: PinRecord, listing: SeenPage): boolean {
  const { entries, kind } = listing;
  if (!known.includes(knownKey(listing))) return false;
  const isKept = (one: ListedDefinition): boolean => {
    const pin = pins[keyOf({ ...listing, name: one.name })];
    return pin !== undefined && (pin.seen ?? pin.pinned)?.digest === one.definition.digest && pin.kinds.includes(kind);
  };
  return entries.every(isKept) && missing(pins, listing).length === 0;
}

export function addListing(record: PinRecord, listing: SeenPage): void {
  const { pins, known } = record;
  let room = MAX_PINS - Object.keys(pins).length;
  for (const one of listing.entries) {
    const isKnown = keyOf({ ...listing, name: one.name }) in pins;
    if (isKnown || room-- > 0) addDefinition(record, listing, one);
  }
  findLikes(record, listing);
  for (const pin of missing(pins, listing)) {
    pin.kinds = pin.kinds.filter((kind) => kind !== listing.kind);
    if (pin.kinds.length > 0) continue;
    delete pin.seen;
    if (!pin.pinned) delete pins[keyOf(pin)];
  }
  if (!known.includes(knownKey(listing))) known.push(knownKey(listing));
}

function addDefinition(record: PinRecord, listing: SeenPage, { name, definition, text }: ListedDefinition): void {
  const { era, area, kind, isBaseline } = listing;
  const key = keyOf({ era, area, name });
  const pin: Pin = record.pins[key] ?? { era, area, name, kinds: [] };
  record.pins[key] = pin;
  if (!pin.kinds.includes(kind)) pin.kinds.push(kind);
  const isShort = text.length <= MAX_PINNED_CHARS;
  const whole = { ...definition, ...(isShort && { value: JSON.parse(text) as JsonObject }) };
  if (pin.pinned?.digest === definition.digest) {
    delete pin.seen;
    if (definition.program !== undefined) pin.pinned.program = definition.program;
  } else if (!pin.pinned && isBaseline) setPinned(pin, whole);
  else if (pin.seen?.digest !== definition.digest) pin.seen = whole;
}

function setPinned(pin: Pin, definition: PinnedDefinition): void {
  pin.pinned = definition;
  delete pin.seen;
  delete pin.like;
  if (!definition.isReadOnly) pin.mayChangeThings = true;
}

/** A new tool with the definition of another one may be that one under another name. */
function findLikes(record: PinRecord, listing: SeenPage): void {
  const fresh = listing.entries.flatMap(({ name }) => {
    const pin = record.pins[keyOf({ ...listing, name })];
    return pin && !pin.pinned && pin.seen ? [pin] : [];
  });
  if (fresh.length === 0) return;
  const { era, area } = listing;
  const names = new Map<string, string>();
  for (const { pinned, name, ...pin } of Object.values(record.pins))
    if (pinned && pin.era === era && pin.area === area) names.set(pinned.likeness, name);
  for (const pin of fresh) {
    const like = names.get(pin.seen!.likeness);
    if (like !== undefined) pin.like = like;
  }
}

function missing(pins: PinRecord['pins'], { era, area, kind, names }: SeenPage): Pin[] {
  if (!names) return [];
  return Object.values(pins).filter(
    (pin) => pin.era === era && pin.area === area && pin.kinds.includes(kind) && !names.has(pin.name),
  );
}

/** Accepts what is seen now; pins that are no longer listed are dropped. */
export function acceptPin(record: PinRecord, key: string): void {
  const pin = record.pins[key];
  if (pin?.seen) setPinned(pin, pin.seen);
  else if (pin && isRemoved(pin)) delete record.pins[key];
}

export function isRemoved({ kinds }: Pin): boolean {
  return kinds.length === 0;
}

const ENDING = '.pins.json';
const WAIT_MS = 5000;

export function pinFolder(stateFolder: string): string {
  return join(stateFolder, 'pins');
}

/** One file for each server of each gateway, in the user's state folder. Only its owner can read it. */
export function pinFile(folder: string, { gateway, server }: Pick<PinRecord, 'gateway' | 'server'>): string {
  return join(folder, `${pinDigest(JSON.stringify([gateway, server])).slice(0, 22)}${ENDING}`);
}

export function listPinFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ENDING));
    return names.toSorted().map((name) => join(folder, name));
  } catch {
    return []; // nothing has been pinned yet
  }
}

/** Undefined if there is no file. Throws if it cannot be understood, so that it is never overwritten. */
export function readPinFile(path: string): PinRecord | undefined {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const record: unknown = JSON.parse(text);
  if (isRecord(record)) return record;
  throw new GatewayError('BAD_OPTION', { option: 'stateFolder', reason: `${path} is not a file of \`parley pins\`` });
}

function isRecord(value: unknown): value is PinRecord {
  if (!isObject(value)) return false;
  const { gateway, server, address, known, pins } = value;
  const isPin = (one: unknown): boolean => isObject(one) && typeof one.name === 'string' && Array.isArray(one.kinds);
  const isNamed = typeof gateway === 'string' && typeof server === 'string' && typeof address === 'string';
  return isNamed && Array.isArray(known) && isObject(pins) && Object.values(pins).every(isPin);
}

/** Tells versions of the file apart without reading it. */
export function versionOf(path: string): string {
  const { ino, mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${ino} ${mtimeMs} ${size}`;
}

/** Replaces the file, under a lock, by what `change` makes of its latest content, so gateways and `parley pins` can write at the same time. */
export function updatePinFile(path: string, change: (latest: PinRecord | undefined) => PinRecord): Promise<PinRecord> {
  const onLate = () => new GatewayError('BAD_OPTION', { option: 'pins', reason: `another process holds ${path}` });
  return withFileLock({ path: `${path}.lock`, waitMs: WAIT_MS, onLate }, async () => {
    const next = change(readPinFile(path));
    const text = JSON.stringify(next, undefined, 1);
    writePrivateFile(path, `${text.length <= MAX_PIN_FILE_BYTES ? text : JSON.stringify(withoutValues(next))}\n`);
    return next;
  });
}

/** What is needed to compare, without what is only for people. */
export function withoutValues(record: PinRecord): PinRecord {
  const pins = Object.entries(record.pins).map(([key, pin]): [string, Pin] => {
    const { pinned, seen } = pin;
    return [key, { ...pin, ...(pinned && { pinned: bare(pinned) }), ...(seen && { seen: bare(seen) }) }];
  });
  return { ...record, pins: Object.fromEntries(pins) };
}

function bare<T extends { value?: unknown }>({ value: _, ...rest }: T): Omit<T, 'value'> {
  return rest;
}
