// A block of a page in docs/, between its markers. The rest of the page is written by hand and is not touched.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function renewBlock(page, name, text) {
  const file = fileOf(page);
  const present = readFileSync(file, 'utf8');
  const { start, end } = placeIn(present, page, name);
  writeFileSync(file, `${present.slice(0, start)}\n\n${text}\n\n${present.slice(end)}`);
}

/** True when the page shows the text. */
export function hasBlock(page, name, text) {
  const present = readFileSync(fileOf(page), 'utf8');
  const { start, end } = placeIn(present, page, name);
  return present.slice(start, end) === `\n\n${text}\n\n`;
}

function fileOf(page) {
  return fileURLToPath(new URL(`../../../docs/${page}`, import.meta.url));
}

function placeIn(text, page, name) {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const start = text.indexOf(begin);
  const stop = text.indexOf(end);
  if (start === -1 || stop < start) throw new Error(`docs/${page} has lost its markers ${begin} and ${end}`);
  return { start: start + begin.length, end: stop };
}
