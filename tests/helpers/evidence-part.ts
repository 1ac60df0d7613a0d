// Writes a table that a run has made into docs/evidence/cluster-cost.md, if UPDATE_DOCS is set.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './files.ts';

const PAGE = join(ROOT, 'docs', 'evidence', 'cluster-cost.md');

/** `name`: of the part of the page. */
export function renewPart(name: string, lines: readonly string[]): void {
  if (!process.env['UPDATE_DOCS']) return;
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [before, rest] = readFileSync(PAGE, 'utf8').split(begin) as [string, string];
  const after = rest.slice(rest.indexOf(end));
  writeFileSync(PAGE, [before, begin, '\n\n', lines.join('\n'), '\n\n', after].join(''));
}
