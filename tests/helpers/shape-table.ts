// The figures of attacks as a table of docs/evidence/attacks.md. A measured run with UPDATE_DOCS=1 writes it.
import { renewBlock } from '../peers/harness/page-block.mjs';

export interface ShapeRow {
  shape: string;
  baseMb: number;
  peakMb: number;
  budgetMb: number;
  cpu: number;
  children: number;
  calls: number;
  medianMs: number;
  twinMs: number;
  worstMs: number;
}

const rows: ShapeRow[] = [];

export function noteShape(row: ShapeRow): void {
  rows.push(row);
  console.log(toLine(row));
}

/** Call it when all attacks of a file were made. */
export function writeShapes(block: string): void {
  if (rows.length === 0) return;
  const text = [HEAD, ...rows.map(toLine)].join('\n');
  console.log(`\n${text}\n`);
  if (process.env.UPDATE_DOCS && process.env.PARLEY_SHAPES === 'measure')
    renewBlock('evidence/attacks.md', block, text);
}

const HEAD = `| attack | memory before → peak (budget) | processor | children | polite calls | median, beside an idle twin | longest |
|---|--:|--:|--:|--:|--:|--:|`;

function toLine(row: ShapeRow): string {
  const { shape, baseMb, peakMb, budgetMb, cpu, children, calls, medianMs, twinMs, worstMs } = row;
  const memory = `${baseMb.toFixed(0)} → ${peakMb.toFixed(0)} MB (${budgetMb.toFixed(0)})`;
  const polite = `${medianMs.toFixed(1)} ms, ${(medianMs / twinMs).toFixed(2)} ×`;
  return `| ${shape} | ${memory} | ${cpu.toFixed(1)} s | ${children} | ${calls} | ${polite} | ${worstMs.toFixed(0)} ms |`;
}
