// The matrix in docs/evidence/interop.md, between its markers. The rest of the page is written by hand and is not touched.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toMatrix } from './matrix.mjs';

const PAGE = fileURLToPath(new URL('../../../docs/evidence/interop.md', import.meta.url));
const BEGIN = '<!-- interop:begin -->';
const END = '<!-- interop:end -->';

export function renewMatrix(results) {
  const page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const block = toBlock(results);
  const present = blockIn(page);
  writeFileSync(
    PAGE,
    present === undefined ? `${page.trimEnd()}\n\n${block}\n`.trimStart() : page.replace(present, () => block),
  );
}

/** True when the page shows what came out. */
export function compareMatrix(results) {
  const present = existsSync(PAGE) ? blockIn(readFileSync(PAGE, 'utf8')) : undefined;
  if (present === toBlock(results)) return true;
  console.log(
    '\n✗ the matrix in docs/evidence/interop.md is not what this run gives: node tests/peers/run.mjs --write renews it',
  );
  return false;
}

function toBlock(results) {
  return `${BEGIN}\n\n${toMatrix(results)}\n\n${END}`;
}

function blockIn(page) {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  return start === -1 || end < start ? undefined : page.slice(start, end + END.length);
}
