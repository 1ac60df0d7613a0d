// What is pinned of one server, and the file that keeps it: each definition as it was accepted, and as the server lists it now if that is something
// else. Nothing here decides what follows from a difference (pin-policy.ts).
// 1. The first list of an area is the baseline: it is accepted as it is. Later, only a person accepts. The server chooses the era, and lists more for
//    some kinds of clients: a list in another era or for another kind of client is compared like any other, and is never a baseline.
// 2. A pin outlives its tool: one that comes back is compared with what it was.
// 3. What was never accepted is forgotten when it is no longer listed, so a server cannot fill the record with names.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { REMEMBERED_KEY, UNAVAILABLE_KEY } from '../../../kernel/target.ts';
import { canonicalJson } from '../../../kernel/base/canonical-json.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { MAX_PINS, MAX_PINNED_CHARS, MAX_PIN_FILE_BYTES } from '../../../kernel/base/limits.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { withFileLock } from '../../../kernel/files/file-lock.ts';
import { readIfThere, writePrivateFile } from '../../../kernel/files/private-file.ts';
import { toPinRecord } from './read-pins.ts';
import type { PinArea, PinnedDefinition, PinForm, Pin, PinRecord } from './pin.ts';

/** One page of a list. */
export interface SeenPage {
  area: PinArea;
  /** Era and kind of client (`listingKey`). */
  listing: string;
  entries: readonly ListedDefinition[];
  /** Belongs to the first list of its area. */
  isBaseline: boolean;
  /** All names of the list, if this is its last page. */
  names?: ReadonlySet<string> | undefined;
}

export interface ListedDefinition {
  name: string;
  definition: PinnedDefinition;
  /** The whole of it as JSON. */
  text: string;
  /** Older files have this digest of it. */
  formerDigest: string;
}

export function toListed(
  name: string,
  entry: JsonObject,
  more: { at: string; isSuspicious: boolean; program: string | undefined },
): ListedDefinition {
  const former = withoutAvailability(entry);
  const value = withoutExecution(former);
  const text = canonicalJson(value);
  const { name: _, ...nameless } = value;
  const { annotations } = value;
  const isReadOnly = isObject(annotations) && annotations.readOnlyHint === true && annotations.destructiveHint !== true;
  const digest = pinDigest(text);
  const definition: PinnedDefinition = { digest, likeness: pinDigest(canonicalJson(nameless)), at: more.at };
  if (isReadOnly) definition.isReadOnly = true;
  if (more.isSuspicious) definition.isSuspicious = true;
  if (more.program !== undefined) definition.program = more.program;
  return { name, definition, text, formerDigest: former === value ? digest : pinDigest(canonicalJson(former)) };
}

function withoutAvailability(entry: JsonObject): JsonObject {
  const { _meta: meta } = entry;
  if (!isObject(meta) || !(UNAVAILABLE_KEY in meta)) return entry;
  const { [UNAVAILABLE_KEY]: _, [REMEMBERED_KEY]: _remembered, ...rest } = meta;
  const { _meta: _gone, ...others } = entry;
  return Object.keys(rest).length > 0 ? { ...others, _meta: rest } : others;
}

const TASK_SUPPORT: ReadonlySet<unknown> = new Set(['forbidden', 'optional', 'required']);

/** Whether a call may be run as a task belongs to the era: SDKs leave it out in the newer one, and it says nothing of what the tool does. */
function withoutExecution(entry: JsonObject): JsonObject {
  const { execution, ...rest } = entry;
  if (!isObject(execution) || !TASK_SUPPORT.has(execution.taskSupport)) return entry;
  const { taskSupport: _, ...others } = execution;
  return Object.keys(others).length > 0 ? { ...rest, execution: others } : rest;
}

export function pinDigest(text: string): string {
  return sha256(text, 'base64url');
}

export function keyOf({ area, name }: Pick<Pin, 'area' | 'name'>): string {
  return `${area} ${name}`;
}

/** `kind`: what the client can do; servers may list more for clients that can be asked. */
export function listingKey(era: string, kind: string): string {
  return `${era} ${kind}`;
}

export function acceptedForms({ forms }: Pin): PinForm[] {
  return forms.filter(({ isAccepted }) => isAccepted);
}

/** As listed now, where that was not accepted. */
export function waitingForms({ forms }: Pin): PinForm[] {
  return forms.filter(({ isAccepted }) => !isAccepted);
}

/** The accepted definition that something else was listed for. */
export function replacedForm(pin: Pin): PinForm | undefined {
  const accepted = acceptedForms(pin);
  return accepted.findLast(({ listings }) => listings.length === 0) ?? accepted.at(-1);
}

export function isRemoved({ forms }: Pin): boolean {
  return forms.every(({ listings }) => listings.length === 0);
}

/** Whether there is something to accept. */
export function isWaiting(pin: Pin): boolean {
  return isRemoved(pin) || pin.forms.some(({ isAccepted }) => !isAccepted);
}

/** Whether the page says nothing that the record does not have. */
export function isInRecord({ known, pins }: PinRecord, page: SeenPage): boolean {
  if (!known.includes(page.area)) return false;
  const isKept = (one: ListedDefinition): boolean => {
    const pin = pins[keyOf({ area: page.area, name: one.name })];
    const form = pin && formOf(pin, one);
    return form?.digest === one.definition.digest && form.listings.includes(page.listing);
  };
  return page.entries.every(isKept) && missing(pins, page).length === 0;
}

export function formOf(
  { forms }: Pin,
  { definition: { digest }, formerDigest }: Pick<ListedDefinition, 'definition' | 'formerDigest'>,
): PinForm | undefined {
  return forms.find((form) => form.digest === digest) ?? forms.find((form) => form.digest === formerDigest);
}

export function addListing(record: PinRecord, page: SeenPage): void {
  const { pins, known } = record;
  let room = MAX_PINS - Object.keys(pins).length;
  for (const one of page.entries) {
    const isKnown = Object.hasOwn(pins, keyOf({ area: page.area, name: one.name }));
    if (isKnown || room-- > 0) addDefinition(record, page, one);
  }
  findLikes(record, page);
  for (const pin of missing(pins, page)) {
    unlist(pin, page.listing);
    if (pin.forms.length === 0) delete pins[keyOf(pin)];
  }
  if (!known.includes(page.area)) known.push(page.area);
}

function addDefinition(record: PinRecord, page: SeenPage, listed: ListedDefinition): void {
  const { area, listing, isBaseline } = page;
  const { name, definition } = listed;
  const key = keyOf({ area, name });
  const pin: Pin = record.pins[key] ?? { area, name, forms: [] };
  record.pins[key] = pin;
  const form = formOf(pin, listed) ?? newForm(pin, listed);
  Object.assign(form, { digest: definition.digest, likeness: definition.likeness });
  if (form.isAccepted && definition.program !== undefined) form.program = definition.program;
  if (!form.listings.includes(listing)) form.listings.push(listing);
  unlist(pin, listing, form);
  if (isBaseline && acceptedForms(pin).length === 0) accept(pin);
}

function newForm(pin: Pin, { definition, text }: ListedDefinition): PinForm {
  const value = text.length <= MAX_PINNED_CHARS ? (JSON.parse(text) as JsonObject) : undefined;
  const form: PinForm = { ...definition, ...(value && { value }), listings: [] };
  pin.forms.push(form);
  return form;
}

/** What was never accepted, and is listed nowhere, is forgotten. `but`: what is listed there now. */
function unlist(pin: Pin, listing: string, but?: PinForm): void {
  for (const form of pin.forms) if (form !== but) form.listings = form.listings.filter((one) => one !== listing);
  pin.forms = pin.forms.filter(({ isAccepted, listings }) => isAccepted || listings.length > 0);
}

/** An accepted definition stays as long as it is listed somewhere. */
function accept(pin: Pin): void {
  pin.forms = pin.forms.filter(({ listings }) => listings.length > 0);
  for (const form of pin.forms) {
    form.isAccepted = true;
    if (!form.isReadOnly) pin.mayChangeThings = true;
  }
  delete pin.like;
}

/** A new tool with the definition of another one may be that one under another name. */
function findLikes(record: PinRecord, { area, entries }: SeenPage): void {
  const fresh = entries.flatMap(({ name }) => {
    const pin = record.pins[keyOf({ area, name })];
    return pin && acceptedForms(pin).length === 0 ? [pin] : [];
  });
  if (fresh.length === 0) return;
  const names = new Map<string, string>();
  for (const pin of Object.values(record.pins))
    if (pin.area === area) for (const { likeness } of acceptedForms(pin)) names.set(likeness, pin.name);
  for (const pin of fresh) {
    const like = pin.forms.map(({ likeness }) => names.get(likeness)).find((name) => name !== undefined);
    if (like !== undefined) pin.like = like;
  }
}

function missing(pins: PinRecord['pins'], { area, listing, names }: SeenPage): Pin[] {
  if (!names) return [];
  return Object.values(pins).filter(
    (pin) => pin.area === area && !names.has(pin.name) && pin.forms.some(({ listings }) => listings.includes(listing)),
  );
}

/** Accepts what is listed now; pins that are no longer listed are dropped. */
export function acceptPin(record: PinRecord, key: string): void {
  const pin = record.pins[key];
  if (!pin) return;
  if (isRemoved(pin)) delete record.pins[key];
  else accept(pin);
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
  const record = toPinRecord(JSON.parse(text));
  if (record) return record;
  throw new GatewayError('BAD_OPTION', { option: 'stateFolder', reason: `${path} is not a file of \`parley pins\`` });
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
  const pins = Object.entries(record.pins).map(([key, pin]) => [key, { ...pin, forms: pin.forms.map(bare) }] as const);
  return { ...record, pins: Object.fromEntries(pins) };
}

function bare({ value: _, ...rest }: PinForm): PinForm {
  return rest;
}
