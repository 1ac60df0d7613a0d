// Finds the id of a message that is not parsed, because it is too large or too deep: its sender would wait for an answer. Peers write
// the id near the beginning or at the very end. A peer that writes another id only misleads itself.
import type { RequestId } from '../../protocol/message.ts';

export interface FoundId {
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
