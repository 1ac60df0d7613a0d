// Numbers as they were sent. A request is read and written anew on its way; a number that JavaScript cannot hold (an id of 64 bits),
// or that it writes in another way (`1.0`), would arrive as another one. So what is written is laid beside what came.
// 1. Nothing but numbers ever changes, and each only into one that JavaScript reads as the same: what somebody has changed on the
//    way, and what any rule has seen, is what is sent. A key that stands there twice stays one.
// 2. Whatever is not certain stays as it was written.
import type { JsonObject } from './message.ts';
import { isObject } from './message.ts';

const KEY = '"arguments":';
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r\n]*/y;
/** Laying two texts side by side takes several times as long as reading one. What is longer stays as it is written. */
export const MAX_CHARS = 256 * 1024;

/** The members of a call's params as JSON, without the braces; `sent` is the text in which they came, or one that holds it. */
export function writeExactly(params: JsonObject, sent: string): string {
  if (!isPlainCall(params)) return withNumbersOf(sent, JSON.stringify(params).slice(1, -1));
  const args = JSON.stringify(params.arguments);
  const name = JSON.stringify(params.name);
  return `"name":${name},"arguments":${standsIn(sent, args) ? args : mergedAt(sent, args)}`;
}

/** The arguments of a call as they are sent, for whoever shows them or tells some from others; empty where there are none. */
export function exactArguments(args: unknown, sent: string | undefined): string {
  const written = JSON.stringify(args) ?? '';
  return sent === undefined || written === '' ? written : mergedAt(sent, written);
}

/** The values of its members, of an object as `JSON.stringify` writes it. */
export function membersOf(object: string): string[] {
  const members: string[] = [];
  let depth = 0;
  for (let at = 0, from = 0, end = 0; at < object.length; at = end) {
    const token = tokenAt(object, at)!;
    end = at + token.length;
    if (depth === 1 && token === ':') from = end;
    if (depth === 1 && from > 0 && (token === ',' || token === '}')) members.push(object.slice(from, at));
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
  }
  return members;
}

/** As nearly always, and mostly at the end. Where it stands elsewhere, a number may be written in another way. */
function standsIn(sent: string, args: string): boolean {
  return sent.slice(-args.length - 1, -1) === args || sent.includes(args);
}

/** The way to ask for a tool: a name, then arguments, and nothing else. Half of the time then goes into them alone. */
function isPlainCall(params: JsonObject): boolean {
  let count = 0;
  for (const key in params) {
    const isExpected = count === 0 ? key === 'name' : key === 'arguments';
    if (isExpected) count++;
    else if (params[key] !== undefined) return false;
  }
  return count === 2 && typeof params.name === 'string' && isObject(params.arguments);
}

function withNumbersOf(sent: string, written: string): string {
  const at = written.indexOf(KEY);
  if (at === -1) return written;
  const to = at + KEY.length;
  return written.slice(0, to) + mergedAt(sent, written.slice(to));
}

function mergedAt(sent: string, rest: string): string {
  const at = sent.indexOf(KEY);
  const merged = at === -1 || rest.length > MAX_CHARS ? undefined : merge(sent, at + KEY.length, rest);
  return merged ?? rest;
}

/** `rest` with the numbers of `sent`; undefined where they are not the same but for these. */
function merge(sent: string, from: number, rest: string): string | undefined {
  let merged = '';
  let at = from;
  let depth = 0;
  for (let end = 0, start = 0; start < rest.length; start = end) {
    at += matchAt(SPACE, sent, at)!.length;
    const token = tokenAt(rest, start)!;
    const theirs = tokenAt(sent, at);
    if (theirs === undefined || !meansTheSame(token, theirs)) return undefined;
    merged += isNumber(token) ? theirs : token;
    at += theirs.length;
    end = start + token.length;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    if (depth === 0) return merged + rest.slice(end);
  }
  return undefined;
}

function meansTheSame(token: string, theirs: string): boolean {
  if (token === theirs) return true;
  if (isNumber(token)) return isNumber(theirs) && Number(token) === Number(theirs);
  return token.length > 1 && theirs.startsWith('"') && JSON.parse(theirs) === JSON.parse(token);
}

function isNumber(token: string): boolean {
  const first = token.charCodeAt(0);
  return first === 0x2d || (first >= 0x30 && first <= 0x39);
}

/** A number, a word with its quotes, or one character. */
function tokenAt(text: string, at: number): string | undefined {
  return text[at] === '"' ? wordAt(text, at) : (matchAt(NUMBER, text, at) ?? text[at]);
}

function wordAt(text: string, start: number): string | undefined {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === '\\') before--;
    if ((end - before) % 2 === 0) return text.slice(start, end + 1);
  }
  return undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
