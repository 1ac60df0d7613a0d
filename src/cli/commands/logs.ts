// `parley logs`: shows the audit log as a table, and follows it.
import { AuditTail } from '../../gateway/audit/audit-reader.ts';
import type { AuditLine } from '../../gateway/audit/audit-lines.ts';
import { toMatcher } from '../../gateway/middleware/steps/filter/glob.ts';
import type { LogsCommand } from '../args/audit-commands.ts';
import { untilSignal } from '../signals.ts';
import type { Printer } from '../terminal/print.ts';
import { toTable } from '../terminal/table.ts';
import { DEFAULT_LOG_LINES } from '../args/audit-commands.ts';
import { LOG_HEADER, hasFailed, toLogRow } from './log-rows.ts';
import { ownAuditFolder } from '../serving/own-audit.ts';

const POLL_MS = 300;

export async function runLogs(command: LogsCommand, print: Printer): Promise<number> {
  const tail = new AuditTail(ownAuditFolder());
  const wanted = toFilter(command);
  const found = tail.read(wanted).map(({ line }) => line);
  const shown = command.since === undefined ? found.slice(-DEFAULT_LOG_LINES) : found;
  if (shown.length === 0 && !command.json) print.note(toEmptyWords(command));
  show(shown, command, print);
  if (!command.follow) {
    const left = found.length - shown.length;
    if (left > 0 && !command.json) print.note(`${left} older lines are not shown; to see them: --since WHEN`);
    return 0;
  }
  const ended = untilSignal();
  for (;;) {
    const isOver = await Promise.race([ended.then(() => true), pause()]);
    show(
      tail.read(wanted).map(({ line }) => line),
      command,
      print,
    );
    if (isOver) return 0;
  }
}

/** Only lines about what happened, not those about the log itself, except that some are missing. */
function toFilter({ since, tool, server, errors }: LogsCommand): (line: AuditLine) => boolean {
  const isTool = tool === undefined ? undefined : toMatcher([tool]);
  return (line) => {
    if (line.kind === 'start' || line.kind === 'checkpoint' || line.kind === 'end') return false;
    if (since !== undefined && line.time < since) return false;
    if (server !== undefined && line.server !== server) return false;
    if (isTool && !isTool(line.name ?? '') && !isTool(String(line.details?.as ?? ''))) return false;
    return !errors || hasFailed(line);
  };
}

function show(lines: readonly AuditLine[], { json }: LogsCommand, print: Printer): void {
  if (lines.length === 0) return;
  if (json) for (const line of lines) print.line(JSON.stringify(line));
  else for (const row of toTable([LOG_HEADER, ...lines.map(toLogRow)])) print.line(row);
}

function toEmptyWords({ since, tool, server, errors }: LogsCommand): string {
  const isNarrow = since !== undefined || tool !== undefined || server !== undefined || errors;
  return isNarrow
    ? 'Nothing like that is recorded.'
    : 'Nothing is recorded yet. `parley serve` and `parley wrap` record calls.';
}

function pause(): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), POLL_MS));
}
