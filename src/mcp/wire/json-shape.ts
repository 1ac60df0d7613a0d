// What can be told of a message without parsing it: whether it has too much of something, because parsing is what a hostile shape makes
// expensive (60 MB of `[` cost gigabytes as objects), and the id of one that is refused, because its sender would wait for an answer.
import type { RequestId } from '../../kernel/message.ts';

export interface ReadLimits {
  maxDepth: number;
  /** Members and items, in all. Default: any number. */
  maxValues?: number;
}

export type ShapeExcess = 'depth' | 'values';

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * What the text has too much of.
 * 1. What it lets pass is at most as deep, and has at most as many values, as allowed.
 * 2. It takes linear time and allocates nothing; most texts are judged by a few searches for brackets.
 * 3. Nothing here decides whether the text is valid JSON.
 */
export function excessOf(text: string, { maxDepth, maxValues = Infinity }: ReadLimits): ShapeExcess | undefined {
  // Each level and each value takes two characters.
  if (text.length <= 2 * maxDepth) return undefined;
  if (text.length <= 2 * maxValues && hasFewBrackets(text, maxDepth)) return undefined;
  return scan(text, maxDepth, maxValues);
}

/** Searching for a character is many times as fast as a loop over all of them. */
function hasFewBrackets(text: string, max: number): boolean {
  let left = max;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) if (--left < 0) return false;
  }
  return true;
}

function scan(text: string, maxDepth: number, maxValues: number): ShapeExcess | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = closingQuote(text, at);
      if (at === -1) return undefined; // no parser will accept it
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > maxDepth) return 'depth';
      if (++values > maxValues) return 'values';
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else if (code === COMMA && ++values > maxValues) return 'values';
  }
  return undefined;
}

function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((at - before) % 2 === 1) return at;
  }
  return -1;
}

interface FoundId {
  id: RequestId | null;
  /** It names a method, so it is not an answer. */
  isCall: boolean;
}

/** How much of the beginning and the end is searched. */
export const EDGE_CHARS = 1024;
/** A member whose value is text or a number. */
const MEMBER = /\s*"(\w{1,10})"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*,?/y;
const LAST = /,\s*"(\w{1,10})"\s*:\s*("(?:[^"\\]|\\.){0,500}"|-?\d{1,20})\s*(?=\}$)/;
const OPENING = /^\s*\{/;

/** Peers write the id near the beginning or at the very end. A peer that writes another id only misleads itself. */
export function findId(beginning: string, end = beginning): FoundId {
  const members = { ...membersAtEnd(end), ...membersAtStart(beginning) };
  return { id: toId(members.id), isCall: members.method !== undefined };
}

function membersAtStart(text: string): Record<string, string> {
  const head = text.slice(0, EDGE_CHARS);
  const opening = OPENING.exec(head);
  const found: Record<string, string> = {};
  if (!opening) return found;
  MEMBER.lastIndex = opening[0].length;
  for (let member = MEMBER.exec(head); member; member = MEMBER.exec(head)) found[member[1]!] = member[2]!;
  return found;
}

function membersAtEnd(text: string): Record<string, string> {
  let tail = text.slice(-EDGE_CHARS).trimEnd();
  const found: Record<string, string> = {};
  for (let member = LAST.exec(tail); member; member = LAST.exec(tail)) {
    found[member[1]!] = member[2]!;
    tail = `${tail.slice(0, member.index)}}`;
  }
  return found;
}

function toId(text: string | undefined): RequestId | null {
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as RequestId;
  } catch {
    return null; // cut off, or not a number of JSON
  }
}
