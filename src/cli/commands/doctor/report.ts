// What `parley doctor` found, and how it is shown.
import type { Printer, Style } from '../../../kernel/command/printer.ts';

const LEVELS = ['ok', 'warning', 'problem'] as const;
type Level = (typeof LEVELS)[number];

export interface CheckOutcome {
  /** What was looked at: `node`, `client cursor`, `server github`. */
  check: string;
  level: Level;
  /** One sentence without its full stop. */
  what: string;
  /** What to do about it. */
  fix?: string | undefined;
  /** What was measured, for programs. */
  measured?: Readonly<Record<string, unknown>> | undefined;
}

const STYLES: Record<Level, Style> = { ok: 'green', warning: 'yellow', problem: 'red' };
const WORDS: Record<Level, string> = { ok: 'ok', warning: 'warn', problem: 'FAIL' };

export function ok(check: string, what: string, measured?: CheckOutcome['measured']): CheckOutcome {
  return { check, level: 'ok', what, measured };
}

/** 0: all is well. 1: something may go wrong. 2: something does not work. */
export function statusOf(findings: readonly CheckOutcome[]): number {
  return Math.max(0, ...findings.map(({ level }) => LEVELS.indexOf(level)));
}

export function showReport(findings: readonly CheckOutcome[], print: Printer): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, level, what, fix } of findings) {
    print.line(`${print.style(STYLES[level], WORDS[level].padEnd(4))}  ${check.padEnd(width)}  ${what}`);
    if (fix !== undefined) print.line(`${' '.repeat(width + 8)}${print.style('dim', fix)}`);
  }
  const count = (wanted: Level): number => findings.filter(({ level }) => level === wanted).length;
  print.line();
  print.line(summary(count('problem'), count('warning')));
}

function summary(problems: number, warnings: number): string {
  if (problems + warnings === 0) return 'All is well.';
  const many = (count: number, word: string): string[] =>
    count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`];
  return `${[...many(problems, 'problem'), ...many(warnings, 'warning')].join(', ')}.`;
}

export function toReportJson(findings: readonly CheckOutcome[]): string {
  const status = (['ok', 'warnings', 'problems'] as const)[statusOf(findings)];
  return JSON.stringify({ status, checks: findings }, undefined, 2);
}
