// Suggests the name that the user meant.

/** The nearest known word, if it is near: up to a third is mistyped, or one is the beginning of the other. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance =
      isStartOf(word, name) || isStartOf(name, word) ? 1 : distanceOf(word.toLowerCase(), name.toLowerCase());
    if (distance <= Math.max(1, Math.floor(name.length / 3)) && distance < (best?.distance ?? Infinity)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

function isStartOf(start: string, word: string): boolean {
  return start.length >= 3 && word.toLowerCase().startsWith(start.toLowerCase());
}

export function didYouMean(word: string, known: readonly string[]): string {
  const meant = suggest(word, known);
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  return known.length === 0 ? 'None are known here.' : `Known are: ${known.join(', ')}.`;
}

/** Letters to change, add, drop, or swap with their neighbour (optimal string alignment distance). */
function distanceOf(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > to.length) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = last[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, changed);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
      }
    }
    [beforeLast, last] = [last, row];
  }
  return last[to.length]!;
}
