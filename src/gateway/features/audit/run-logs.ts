// `parley logs`: shows the audit log as a table, and follows it. Everything in it may come from a client or a server; the table and the printer
// clean it.
import { AuditTail } from './audit-lines.ts';
import type { AuditLine } from './audit-lines.ts';
import { toMatcher } from '../../matching/name-rule.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { CALL_TOOL } from '../../../kernel/methods.ts';
import { ownAuditFolder } from './own-audit.ts';
import type { CommandTools } from '../../../kernel/command/command-tools.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { toTable } from '../../../kernel/command/table.ts';

interface LogsCommand {
  follow: boolean;
  since: string | undefined;
  until: string | undefined;
  /** A pattern of names. */
  tool: string | undefined;
  server: string | undefined;
  /** Patterns of principals and names of keys, and of names of clients. */
  user: string | undefined;
  client: string | undefined;
  /** In ms. */
  slow: number | undefined;
  errors: boolean;
  /** How many of the last lines are shown; undefined: all. */
  most: number | undefined;
  json: boolean;
}

const POLL_MS = 300;

const LOG_HEADER = ['TIME', 'WHO', 'SERVER', 'WHAT', 'OUTCOME', 'MS', 'MORE'];

const MAX_CELL = 60;
const GOOD = new Set([
  'ok',
  'given',
  'accepted',
  'renewed',
  'used',
  'input_required',
  'working',
  'running',
  'declined',
]);

export async function runLogs(command: LogsCommand, { print, ended }: CommandTools): Promise<number> {
  const tail = new AuditTail(ownAuditFolder());
  const wanted = toFilter(command);
  const read = () => tail.read(wanted).map(({ line }) => line);
  const found = read();
  const shown = command.most === undefined ? found : found.slice(-command.most);
  if (shown.length === 0 && !command.json) print.note(toEmptyWords(command));
  show(shown, command, print);
  if (!command.follow) {
    const left = found.length - shown.length;
    if (left > 0 && !command.json) print.note(`${left} older lines are not shown; to see them: --since WHEN`);
    return 0;
  }
  const isEnded = ended().then(() => true);
  for (;;) {
    const isOver = await Promise.race([isEnded, pause()]);
    show(read(), command, print);
    if (isOver) return 0;
  }
}

/** Only lines about what happened, not those about the log itself, except that some are missing. */
function toFilter({
  since,
  until,
  tool,
  server,
  user,
  client,
  slow,
  errors,
}: LogsCommand): (line: AuditLine) => boolean {
  const isTool = tool === undefined ? undefined : toMatcher([tool]);
  const isUser = user === undefined ? undefined : toMatcher([user]);
  const isClient = client === undefined ? undefined : toMatcher([client]);
  return (line) => {
    if (line.kind === 'start' || line.kind === 'checkpoint' || line.kind === 'end') return false;
    if (since !== undefined && line.time < since) return false;
    if (until !== undefined && line.time >= until) return false;
    if (server !== undefined && line.server !== server) return false;
    if (isTool && !isTool(line.name ?? '') && !isTool(String(line.details?.as ?? ''))) return false;
    if (isUser && !namesIn(line).some(isUser)) return false;
    if (isClient && !isClient(textIn(line.details ?? {}, 'client') ?? '')) return false;
    if (slow !== undefined && (line.ms ?? 0) < slow) return false;
    return !errors || hasFailed(line);
  };
}

/** Who is meant by the user of a line: the principal, as it is shown and without the word for API keys, and the name of the key. */
function namesIn({ principal = '', details = {} }: AuditLine): string[] {
  return [principal, toShortPrincipal(principal), principal.replace(/^key:/, ''), textIn(details, 'key') ?? principal];
}

/** `session #1eCz0d` for a session or connection without a login. */
function toShortPrincipal(principal: string): string {
  return principal.replace(/^anonymous:([^:]+):(#.{6}).*$/, '$1 $2');
}

function show(lines: readonly AuditLine[], { json }: LogsCommand, print: Printer): void {
  if (lines.length === 0) return;
  if (json) for (const line of lines) print.line(JSON.stringify(line));
  else for (const row of toTable([LOG_HEADER, ...lines.map(toLogRow)])) print.line(row);
}

function toEmptyWords({ since, until, tool, server, user, client, slow, errors }: LogsCommand): string {
  const isNarrow = errors || [since, until, tool, server, user, client, slow].some((one) => one !== undefined);
  return isNarrow
    ? 'Nothing like that is recorded.'
    : 'Nothing is recorded yet. `parley serve` and `parley wrap` record calls.';
}

function pause(): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), POLL_MS));
}

function hasFailed({ kind, outcome }: AuditLine): boolean {
  return kind === 'refusal' || kind === 'lost' || (outcome !== undefined && !GOOD.has(outcome));
}

function toLogRow(line: AuditLine): string[] {
  const { time, principal = '', server, outcome, ms, details = {} } = line;
  const who = [toShortPrincipal(principal), textIn(details, 'client') ?? textIn(details, 'from')]
    .filter(Boolean)
    .join(' ');
  return [
    toLocalTime(time),
    cut(who) || '-',
    cut(server ?? '') || '-',
    cut(toWhat(line)),
    outcome ?? '-',
    ms === undefined ? '-' : String(Math.round(ms)),
    cut(toMore(line), 2 * MAX_CELL),
  ];
}

function toWhat({ kind, method = '', name = '', details = {} }: AuditLine): string {
  const shape = isObject(details.arguments) ? `(${Object.keys(details.arguments).join(', ')})` : '';
  switch (kind) {
    case 'call':
      return method === CALL_TOOL ? `${name}${shape}` : `${method} ${name}`.trim();
    case 'approval':
      return `approval of ${name}`;
    case 'lost':
      return `${String(details.lines)} lines could not be written`;
    default:
      return `${kind} ${method} ${name}`.replaceAll(/ +/g, ' ').trim();
  }
}

function toMore({ decision, details = {} }: AuditLine): string {
  const rule = decision && `${decision.effect} by ${decision.rule}`;
  const more = typeof details.more === 'number' ? `and ${details.more} more like it` : undefined;
  const way = textIn(details, 'way');
  return [rule, way && `by ${way}`, textIn(details, 'reason'), more].filter(Boolean).join('; ');
}

function textIn(details: JsonObject, name: string): string | undefined {
  const value = details[name];
  return typeof value === 'string' ? value : undefined;
}

function cut(text: string, max = MAX_CELL): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** `2026-11-17 11:07:26`, where the user is. */
function toLocalTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso.slice(0, 19);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
