// Messages as people read them: JSON in lines, and which of them another message does not have.
import { visible } from '../../../../kernel/base/visible.ts';
import type { CallLeg } from '../views.ts';

const cache = new WeakMap<CallLeg, readonly string[]>();

export function toPretty(leg: CallLeg): readonly string[] {
  const known = cache.get(leg);
  if (known) return known;
  const lines = pretty(leg.text ?? '');
  cache.set(leg, lines);
  return lines;
}

function pretty(text: string): readonly string[] {
  try {
    // What JSON writes as an escape would otherwise be shown as the hidden character that it is.
    return JSON.stringify(JSON.parse(text), null, 2).split('\n').map(visible);
  } catch {
    return text.split('\n').map(visible); // it was cut
  }
}

/** More lines than that are not compared. */
const MAX_LINES = 800;

/** The positions of lines that are not in the other text at the same place of the longest common order. Commas at the end of a line do not count. */
export function changedLines(lines: readonly string[], others: readonly string[]): ReadonlySet<number> {
  if (lines.length > MAX_LINES || others.length > MAX_LINES) return new Set();
  const [own, theirs] = [lines.map(withoutComma), others.map(withoutComma)];
  const width = theirs.length + 1;
  const lengths = new Uint16Array((own.length + 1) * width);
  for (let i = own.length - 1; i >= 0; i--)
    for (let j = theirs.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        own[i] === theirs[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const changed = new Set<number>();
  for (let [i, j] = [0, 0]; i < own.length;) {
    if (j < theirs.length && own[i] === theirs[j]) [i, j] = [i + 1, j + 1];
    else if (j < theirs.length && lengths[i * width + j + 1]! >= lengths[(i + 1) * width + j]!) j++;
    else changed.add(i++);
  }
  return changed;
}

function withoutComma(line: string): string {
  return line.replace(/,$/, '');
}
