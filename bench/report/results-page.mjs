// Renews the parts of RESULTS.md that come from a run; the words around them are written by hand.
import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = new URL('../RESULTS.md', import.meta.url);

/** `bench`: the name in the markers around the part. */
export function renewResults(bench, text) {
  const [begin, end] = [`<!-- ${bench}:begin -->`, `<!-- ${bench}:end -->`];
  const page = readFileSync(PAGE, 'utf8');
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`RESULTS.md has no ${begin} … ${end}`);
  writeFileSync(PAGE, `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`);
}
