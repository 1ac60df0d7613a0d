// Matches globs over names and URIs: `*` stands for any characters, `?` for one. It avoids regular expressions, which a client
// could make run for minutes.
export function toMatcher(patterns: readonly string[]): (text: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !isGlob(pattern)));
  const globs = patterns.filter(isGlob);
  return (text) => exact.has(text) || globs.some((glob) => matches(glob, text));
}

export function isGlob(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('?');
}

/** Takes at most pattern × text steps, because only the last star is ever retried. */
function matches(pattern: string, text: string): boolean {
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
