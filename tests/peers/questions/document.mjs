// The tables in docs/evidence/questions.md, between their markers. The rest of the page is written by hand and is not touched.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../../docs/evidence/questions.md', import.meta.url));
const BEGIN = '<!-- matrix:begin -->';
const END = '<!-- matrix:end -->';

export function renewTables(block) {
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(blockIn(page), () => around(block)),
  );
}

/** True when the page shows what came out. */
export function compareTables(block) {
  return blockIn(readFileSync(PAGE, 'utf8')) === around(block);
}

function around(block) {
  return `${BEGIN}\n\n${block}\n\n${END}`;
}

function blockIn(page) {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start === -1 || end < start)
    throw new Error(`docs/evidence/questions.md has lost its markers ${BEGIN} and ${END}`);
  return page.slice(start, end + END.length);
}
