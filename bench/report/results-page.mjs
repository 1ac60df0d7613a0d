// Renews the part of RESULTS.md that comes from a run; the words around it are written by hand.
import { readFileSync, writeFileSync } from 'node:fs';
import { markdownTable } from './table.mjs';

const PAGE = new URL('../RESULTS.md', import.meta.url);
const BEGIN = '<!-- bench:begin -->';
const END = '<!-- bench:end -->';

export function renewResults(run) {
  const page = readFileSync(PAGE, 'utf8');
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from === -1 || to < from) throw new Error(`RESULTS.md has no ${BEGIN} … ${END}`);
  const machine = `${run.cpu}, ${run.cores} cores, Node ${run.node}, ${run.date}; up to ${run.plan.lives} processes of each server, ${run.plan.rounds} rounds of ${run.plan.ms} ms in each.`;
  const part = `${BEGIN}\n${machine}\n\n${markdownTable(run.cells)}\n`;
  writeFileSync(PAGE, page.slice(0, from) + part + page.slice(to));
}
