// The tables of docs/evidence/borders.md that say at how many boundaries the server of each play was killed: a row for each channel, a column for each play.
// A run that plays some of them renews those cells alone.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../files.ts';

export interface Cell {
  play: string;
  channel: string;
  /** How many boundaries it has, and at how many of them, and others, the server was killed. */
  figures: string;
}

const PAGE = join(ROOT, 'docs', 'evidence', 'borders.md');

export function renewTable(
  store: string,
  cells: Cell[],
  order: { plays: string[]; channels: readonly string[] },
): void {
  const page = readFileSync(PAGE, 'utf8');
  const block = new RegExp(
    `(<!-- boundaries-${store.toLowerCase()}:begin -->\n)([^]*?)(<!-- boundaries-${store.toLowerCase()}:end -->)`,
  );
  const [, before, table, after] = block.exec(page)!;
  const known = readTable(table!);
  for (const { play, channel, figures } of cells) known.set(`${play}, ${channel}`, figures);
  const rows = order.channels.map((channel) => [
    channel,
    ...order.plays.map((play) => known.get(`${play}, ${channel}`) ?? ''),
  ]);
  const lines = [['channel', ...order.plays], ['---', ...order.plays.map(() => '--:')], ...rows];
  const text = lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
  writeFileSync(
    PAGE,
    page.replace(block, () => `${before}\n${store}:\n\n${text}\n\n${after}`),
  );
}

function readTable(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const [[, ...plays] = [], , ...rows] = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const cells = rows.flatMap(([channel, ...figures]) =>
    figures.map((figure, index) => [`${plays[index]}, ${channel}`, figure] as const),
  );
  return new Map(cells);
}
