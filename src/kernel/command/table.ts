// Formats rows as aligned columns, and cuts each line at the width of the terminal. A cell never breaks its line.
import { printableLine } from '../base/visible.ts';

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

/** The first sentence or line. */
export function firstSentence(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return /^.*?[.!?](?=\s)/.exec(line)?.[0] ?? line;
}
