// Two versions of a definition side by side: what differs, member by member and word by word. `[-…-]` was removed, `{+…+}` was added.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';

/** Comparing takes as many steps as the product of the two numbers of words. */
const MAX_WORDS = 1000;

interface DiffStyle {
  removed(text: string): string;
  added(text: string): string;
}

export function diffLines(before: JsonObject | undefined, after: JsonObject | undefined, style: DiffStyle): string[] {
  const [old, now] = [membersOf(before ?? {}), membersOf(after ?? {})];
  const paths = [...new Set([...old.keys(), ...now.keys()])];
  return paths
    .filter((path) => old.get(path) !== now.get(path))
    .map((path) => `${path}: ${diffWords(old.get(path), now.get(path), style)}`);
}

function diffWords(before: string | undefined, after: string | undefined, style: DiffStyle): string {
  if (before === undefined) return style.added(`{+${after}+}`);
  if (after === undefined) return style.removed(`[-${before}-]`);
  const [old, now] = [wordsOf(before), wordsOf(after)];
  if (old.length > MAX_WORDS || now.length > MAX_WORDS)
    return `${style.removed(`[-${before}-]`)} ${style.added(`{+${after}+}`)}`;
  return joinParts(compare(old, now), style);
}

type Part = { kind: 'same' | 'removed' | 'added'; text: string };

/** By the longest common subsequence. */
function compare(old: string[], now: string[]): Part[] {
  const lengths = old.map(() => new Uint16Array(now.length + 1)).concat(new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      lengths[i]![j] =
        old[i] === now[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  const parts: Part[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      parts.push({ kind: 'same', text: old[i++]! });
      j++;
    } else if (j === now.length || (i < old.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      parts.push({ kind: 'removed', text: old[i++]! });
    else parts.push({ kind: 'added', text: now[j++]! });
  }
  return parts;
}

function joinParts(parts: readonly Part[], style: DiffStyle): string {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.kind === part.kind) last.text += part.text;
    else joined.push({ ...part });
  }
  const written = joined.map(({ kind, text }) => {
    if (kind === 'same') return text;
    return kind === 'removed' ? style.removed(`[-${text}-]`) : style.added(`{+${text}+}`);
  });
  return written.join('');
}

/** Words with the space after them. */
function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

/** Texts and lists by their path. */
function membersOf(value: JsonObject, path = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (isObject(member) && Object.keys(member).length > 0)
      for (const [key, text] of membersOf(member, at)) found.set(key, text);
    else found.set(at, typeof member === 'string' ? member : JSON.stringify(member).replaceAll(',', ', '));
  }
  return found;
}
