// Says whether an edit of a trusted file only takes away: a server, a tool, a client's freedom. Such an edit applies at once, since somebody who cannot
// be trusted gains nothing by it. Judged by the text before variables are filled in, and conservatively: what is not listed here, or cannot be
// compared with certainty, is a change that has to be trusted.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../kernel/message.ts';
import { sha256 } from '../../kernel/crypto/lazy-crypto.ts';

/** A configuration as it was written, with a digest in place of each value: enough to compare, and no secret. */
export type WrittenShape = string | WrittenShape[] | { [key: string]: WrittenShape };

/** `value`: what was parsed. */
export function shapeOf(value: unknown): WrittenShape {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (isPlainObject(value)) return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, shapeOf(of)]));
  return sha256(`${typeof value} ${JSON.stringify(value) ?? String(value)}`, 'hex');
}

/** TOML has dates that are objects. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  const prototype = isObject(value) ? (Object.getPrototypeOf(value) as unknown) : undefined;
  return prototype === Object.prototype || prototype === null;
}

/** `trusted`: what was trusted. `next`: what the file says now. */
export function onlyTightens(trusted: WrittenShape, next: Record<string, unknown>): boolean {
  return isRecord(trusted) && keysAre(trusted, next, TOP) && keepsNames(trusted, next);
}

interface Pair {
  /** Undefined: the key was not there. */
  before: WrittenShape | undefined;
  /** Undefined: the key is gone. */
  now: unknown;
}

/** Whether the new value of a key takes away and gives nothing. */
type Tightens = (pair: Pair, entry: { before: WrittenRecord; now: Record<string, unknown> }) => boolean;
type WrittenRecord = { [key: string]: WrittenShape };

/** Keys that are not listed must not change. */
function keysAre(
  before: WrittenRecord,
  now: Record<string, unknown>,
  rules: Readonly<Record<string, Tightens>>,
): boolean {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].every((name) => {
    const pair = { before: own(before, name), now: own(now, name) };
    if (isSame(pair)) return true;
    return Object.hasOwn(rules, name) && rules[name]!(pair, { before, now });
  });
}

function own<Value>(of: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

function isSame({ before, now }: Pair): boolean {
  return before === undefined || now === undefined ? before === now : isDeepStrictEqual(before, shapeOf(now));
}

function isRecord(shape: WrittenShape | undefined): shape is WrittenRecord {
  return typeof shape === 'object' && !Array.isArray(shape);
}

/** Without references: a variable is not in the file, and a file that is read was not trusted. */
function isPlain(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('${');
}

/** More of what is forbidden. */
const grows: Tightens = ({ before = [], now }) => {
  if (!Array.isArray(before) || !Array.isArray(now)) return false;
  const known = now.map(shapeOf);
  const isKept = before.every((one) => known.some((other) => isDeepStrictEqual(one, other)));
  return isKept && now.every((one, at) => isPlain(one) || includes(before, known[at]!));
};

/** Less of what is allowed, and never nothing: an empty list may mean that there is no rule. */
const shrinks: Tightens = ({ before, now }) =>
  Array.isArray(before) && Array.isArray(now) && now.length > 0 && now.every((one) => includes(before, shapeOf(one)));

function includes(shapes: readonly WrittenShape[], one: WrittenShape): boolean {
  return shapes.some((other) => isDeepStrictEqual(other, one));
}

/** A new list of what is allowed, if nothing else in the entry lists that. */
const allows: Tightens = (pair, { now }) => {
  if (pair.before !== undefined) return shrinks(pair, { before: {}, now });
  return Array.isArray(pair.now) && pair.now.length > 0 && pair.now.every(isPlain);
};

const asks: Tightens = ({ before, now }, entry) => {
  if (now === 'always') return true;
  if (before === undefined) return now === 'destructive' || (Array.isArray(now) && now.every(isPlain));
  return Array.isArray(before) && grows({ before, now }, entry);
};

const TOOLS: Readonly<Record<string, Tightens>> = { deny: grows, allow: allows, approve: asks };

/** `allow` wins over the lists of other clients, so a new one may show what these hide. */
const LISTS_ALLOWED = ['includeTools', 'enabled_tools'];

const tools: Tightens = ({ before = {}, now }, entry) => {
  if (!isRecord(before) || !isObject(now)) return false;
  const isNew = !Object.hasOwn(before, 'allow') && Object.hasOwn(now, 'allow');
  if (isNew && LISTS_ALLOWED.some((key) => Object.hasOwn(entry.now, key))) return false;
  return keysAre(before, now, TOOLS);
};

const turnsOff: Tightens = ({ now }) => now === true;

/** From the loosest to the strictest. What is not one of them is not compared. */
const PINS = ['off', 'flag', 'destructive', 'hold'];

const pins: Tightens = ({ before = shapeOf('destructive'), now }) => {
  const rank = PINS.findIndex((one) => shapeOf(one) === before);
  // Without the key the default holds, which is not the strictest.
  return rank !== -1 && PINS.indexOf((now ?? 'destructive') as string) >= rank;
};

/** Without one of its own, those of all servers hold, which this does not look up. */
const serverPins: Tightens = (pair, entry) =>
  pair.now === 'hold' || (pair.before !== undefined && pair.now !== undefined && pins(pair, entry));

const SERVER: Readonly<Record<string, Tightens>> = {
  tools,
  disabled: turnsOff,
  excludeTools: grows,
  disabledTools: grows,
  disabled_tools: grows,
  pins: serverPins,
};

/** Servers that are gone, and others with less. */
const servers: Tightens = ({ before, now }) => {
  if (!isRecord(before) || !isObject(now)) return false;
  return Object.entries(now).every(([name, entry]) => {
    const known = own(before, name);
    if (isSame({ before: known, now: entry })) return true;
    return isRecord(known) && isObject(entry) && keysAre(known, entry, SERVER);
  });
};

/**
 * Rules that refuse or hide, added anywhere; the others in their order. The first rule that matches decides, so a refusal in front of a rule that hides
 * would show that the thing is there. An expression costs time, so a new one is a change.
 */
const rules: Tightens = ({ before = [], now }) => {
  if (!Array.isArray(before) || !Array.isArray(now)) return false;
  let next = 0;
  const added: { rule: unknown; at: number }[] = [];
  for (const rule of now) {
    if (next < before.length && isDeepStrictEqual(before[next], shapeOf(rule))) next += 1;
    else added.push({ rule, at: next });
  }
  if (next < before.length) return false;
  const hide = shapeOf('hide');
  const hidesAfter = (at: number): boolean =>
    before.slice(at).some((one) => isRecord(one) && own(one, 'effect') === hide);
  return added.every(
    ({ rule, at }) => isObject(rule) && isRefusal(rule) && (rule['effect'] === 'hide' || !hidesAfter(at)),
  );
};

const CONDITIONS = new Set([
  'effect',
  'server',
  'tool',
  'prompt',
  'resource',
  'method',
  'principal',
  'group',
  'scope',
  'annotation',
]);

function isRefusal(rule: Record<string, unknown>): boolean {
  const isKnown = Object.entries(rule).every(
    ([key, value]) => CONDITIONS.has(key) && [value].flat().every(isPlain) && [value].flat().length > 0,
  );
  return isKnown && (rule['effect'] === 'deny' || rule['effect'] === 'hide');
}

const TOP: Readonly<Record<string, Tightens>> = { mcpServers: servers, servers, mcp_servers: servers, rules, pins };
const BLOCKS = ['mcpServers', 'servers', 'mcp_servers'];

/**
 * A server that is gone must not change what the others are called, nor let another one of the same name take its place: rules go by names. So the names have
 * to be fixed, there has to be one block only, and two servers have to stay: a single one has no prefix.
 */
function keepsNames(before: WrittenRecord, now: Record<string, unknown>): boolean {
  const changed = BLOCKS.filter((block) => !isSame({ before: own(before, block), now: own(now, block) }));
  const [block] = changed;
  if (block === undefined) return true;
  const isOnly = BLOCKS.filter((one) => Object.hasOwn(before, one)).length === 1;
  const names = own(before, 'names');
  const [many, left] = [countServers(own(before, block)), countServers(shapeOf(own(now, block)))];
  return isOnly && (names === undefined || names === shapeOf('always')) && (left === many || left > 1);
}

function countServers(block: WrittenShape | undefined): number {
  const off = shapeOf(true);
  const isOn = (entry: WrittenShape): boolean => !isRecord(entry) || own(entry, 'disabled') !== off;
  return isRecord(block) ? Object.values(block).filter(isOn).length : 0;
}
