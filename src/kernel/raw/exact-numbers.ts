// Preserves numbers as they were sent. JavaScript cannot represent every JSON number (`12345678901234567890`, `1e400`)
// and writes others differently (`1.0`). An object parsed from such a text carries the original text of those numbers
// under a symbol, and is written with it.
// 1. The original text is used only while the value is unchanged.
// 2. The symbol is enumerable, so copies made with `{ ...object }` carry it. `JSON.stringify`, `Object.keys` and `for
//    in` ignore it.
// 3. Until a peer sends such a number, writing costs no more than `JSON.stringify`.
import { randomId } from '../crypto/ids.ts';

const EXACT = Symbol('numbers as they were sent');

type Texts = Map<string, string>;
type Container = { [EXACT]?: Texts; [key: string]: unknown };

/** Finding the numbers takes several times as long as parsing. In a longer text they are not preserved. */
const MAX_CHARS = 8 * 1024 * 1024;
/** Deeper than any message may be; beyond it is a cycle, which `JSON.stringify` rejects. */
const MAX_DEPTH = 2000;

/** A number that JavaScript may write differently: 16 digits or more, an exponent, a fraction that ends in 0, or -0. */
const MAY_DIFFER = /[:,[]\s*(?:-?(?:[\d.]{16}|\d+(?:\.\d+)?[eE]|\d+\.\d*0[\s,}\]])|-0[\s,}\]])/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Placeholder for a number until the text is complete. It never leaves the process, so it cannot be forged. */
let mark: { readonly text: string; readonly pattern: RegExp } | undefined;

/** Parses JSON and preserves its numbers. Throws like `JSON.parse`. */
export function parseExactly(text: string): unknown {
  return keepNumbers(JSON.parse(text), text);
}

/** `value` was read from `text`. */
export function keepNumbers<T>(value: T, text: string): T {
  if (text.length <= MAX_CHARS && hasNumber(value, 0) && MAY_DIFFER.test(text)) note(value as Container, text);
  return value;
}

/** For a copy that was made member by member. */
export function copyNumbers<T extends object>(from: object, to: T): T {
  const texts = (from as Container)[EXACT];
  if (texts) (to as Container)[EXACT] = texts;
  return to;
}

/**
 * A copy with other members, which keeps the numbers of the rest. The same object if no member changes. `Object.fromEntries` and `map` would lose them
 * silently, so use this to change part of what a peer has sent.
 */
export function mapMembers<T extends object>(from: T, change: (value: unknown, key: string) => unknown): T {
  const members = Object.entries(from) as [string, unknown][];
  const changed = members.map(([key, value]) => [key, change(value, key)] as const);
  if (changed.every(([, value], index) => value === members[index]![1])) return from;
  const to: object = Array.isArray(from) ? changed.map(([, value]) => value) : Object.fromEntries(changed);
  return copyNumbers(from, to) as T;
}

/** The number under this key as it was sent; undefined if JavaScript writes it the same. */
export function exactText(holder: object, key: string): string | undefined {
  return (holder as Container)[EXACT]?.get(key);
}

/** Like `JSON.stringify`, with numbers as they were sent. */
export function writeExactly(value: unknown, indent?: number): string {
  if (!mark || !hasTexts(value, 0)) return JSON.stringify(value, undefined, indent);
  return JSON.stringify(value, withMarks, indent).replace(mark.pattern, '$1');
}

/** One member of an object, as `writeExactly` writes it. */
export function writeMember(object: object, key: string): string {
  const alone = copyNumbers(object, { [key]: (object as Container)[key] });
  return writeExactly(alone).slice(JSON.stringify(key).length + 2, -1);
}

/** The member values of an object as `JSON.stringify` writes it. */
export function membersOf(object: string): string[] {
  const members: string[] = [];
  let depth = 0;
  for (let at = 0, from = 0, end = 0; at < object.length; at = end) {
    const token = object[at]!;
    end = token === '"' ? stringEnd(object, at) : at + 1;
    if (depth === 1 && token === ':' && from === 0) from = end;
    if (depth === 1 && from > 0 && (token === ',' || token === '}')) {
      members.push(object.slice(from, at));
      from = 0;
    }
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
  }
  return members;
}

/** Most messages have none, and looking at the values is cheaper than searching the text. */
function hasNumber(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) {
    for (const one of value)
      if (typeof one === 'number' || (typeof one === 'object' && hasNumber(one, depth + 1))) return true;
    return false;
  }
  for (const key in value) {
    const one = (value as Container)[key];
    if (typeof one === 'number' || (typeof one === 'object' && hasNumber(one, depth + 1))) return true;
  }
  return false;
}

function withMarks(this: Container, key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  const text = this[EXACT]?.get(key);
  return text !== undefined && Number(text) === value ? mark!.text + text : value;
}

function hasTexts(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  const container = value as Container;
  if (container[EXACT] || typeof container.toJSON === 'function') return true; // its output is not known yet
  if (Array.isArray(value)) return value.some((one) => hasTexts(one, depth + 1));
  for (const key in container) if (hasTexts(container[key], depth + 1)) return true;
  return false;
}

/** An object or array whose text is being scanned. */
interface Frame {
  /** Undefined for text that was not parsed: a duplicate key. */
  container: Container | undefined;
  isArray: boolean;
  key: string;
  index: number;
  isKeyNext: boolean;
}

/** Scans the text and the value side by side. The text is valid JSON. */
function note(root: Container, text: string): void {
  const open: Frame[] = [];
  let frame: Frame | undefined;
  for (let at = 0; at < text.length;) {
    const character = text[at]!;
    switch (character) {
      case '{':
      case '[': {
        const container = frame ? memberOf(frame) : root;
        frame = { container, isArray: character === '[', key: '', index: 0, isKeyNext: character === '{' };
        open.push(frame);
        at++;
        break;
      }
      case '}':
      case ']':
        open.pop();
        frame = open.at(-1);
        at++;
        break;
      case ',':
        if (frame) {
          frame.index++;
          frame.isKeyNext = !frame.isArray;
        }
        at++;
        break;
      case '"': {
        const end = stringEnd(text, at);
        if (frame?.isKeyNext) {
          frame.key = JSON.parse(text.slice(at, end)) as string;
          frame.isKeyNext = false;
        }
        at = end;
        break;
      }
      default:
        NUMBER.lastIndex = at;
        at += noteNumber(frame, NUMBER.exec(text)?.[0]);
    }
  }
}

/** Returns its length; 1 if it is not a number. */
function noteNumber(frame: Frame | undefined, text: string | undefined): number {
  if (text === undefined) return 1;
  // With a key that comes twice, the value may be another one.
  if (String(Number(text)) !== text && frame?.container?.[keyOf(frame)] === Number(text)) {
    mark ??= createMark();
    (frame.container[EXACT] ??= new Map()).set(keyOf(frame), text);
  }
  return text.length;
}

function memberOf(frame: Frame): Container | undefined {
  const value = frame.container?.[keyOf(frame)];
  return typeof value === 'object' && value !== null ? (value as Container) : undefined;
}

function keyOf({ isArray, index, key }: Frame): string {
  return isArray ? String(index) : key;
}

function createMark() {
  const text = `exact-${randomId()}:`;
  return { text, pattern: new RegExp(`"${text}([^"]*)"`, 'g') };
}

/** The position after the string that begins here. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === '\\') before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}
