// One line of the audit log as a row of a table. Everything in it may come from a client or a server; the table and the printer clean it.
import type { AuditLine } from '../../gateway/audit/audit-lines.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export const LOG_HEADER = ['TIME', 'WHO', 'SERVER', 'WHAT', 'OUTCOME', 'MS', 'MORE'];

const MAX_CELL = 60;
const GOOD = new Set(['ok', 'given', 'renewed', 'used', 'input_required', 'working', 'running']);

export function hasFailed({ kind, outcome }: AuditLine): boolean {
  return kind === 'refusal' || kind === 'lost' || (outcome !== undefined && !GOOD.has(outcome));
}

export function toLogRow(line: AuditLine): string[] {
  const { time, principal, server, outcome, ms, details = {} } = line;
  const who = [principal, textIn(details, 'client') ?? textIn(details, 'from')].filter(Boolean).join(' ');
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
      return method === 'tools/call' ? `${name}${shape}` : `${method} ${name}`.trim();
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
