// Rows in columns, as wide as they have to be; the last one is cut where the terminal ends. A cell stays in its line, whatever its server
// wrote into it.
import { printableLine } from '../../shared/visible.ts';

export function toTable(cells: string[][], options: { indent?: string; width?: number | undefined } = {}): string[] {
  const { indent = '', width } = options;
  const rows = cells.map((row) => row.map(printableLine));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(...rows.map((row) => (row[index] ?? '').length)),
  );
  return rows.map((row) => {
    const line = row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index]!))).join('  ');
    return cut(`${indent}${line.trimEnd()}`, width);
  });
}

function cut(line: string, width: number | undefined): string {
  if (width === undefined || line.length <= width || width < 40) return line;
  return `${line.slice(0, width - 1)}…`;
}

/** The first sentence or line: enough to know a thing by. */
export function firstSentence(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return /^.*?[.!?](?=\s)/.exec(line)?.[0] ?? line;
}
