// Reads the words and options of `parley logs` and `parley audit`.
import type { AuditCommand, LogsCommand } from '../command.ts';
import { UsageError, none, toSpanMs } from '../option-values.ts';
import type { OptionValue, ParsedArgs } from '../option-values.ts';
import { AUDIT_ACTIONS, EXPORT_FORMATS } from './audit-specs.ts';

export function toLogs({ values, words }: ParsedArgs): LogsCommand {
  none(words, 'logs');
  return {
    name: 'logs',
    follow: values['follow'] === true,
    since: toSince(values['since']),
    tool: values['tool'] as string | undefined,
    server: values['server'] as string | undefined,
    errors: values['errors'] === true,
    json: values['json'] === true,
  };
}

export function toAudit({ values, words }: ParsedArgs): AuditCommand {
  const [word, ...more] = words;
  const action = AUDIT_ACTIONS.find((one) => one === word);
  if (!action) throw new UsageError(`Say what to do: ${AUDIT_ACTIONS.join(', ')}.`);
  none(more, `audit ${action}`);
  const format = EXPORT_FORMATS.find((one) => one === (values['format'] ?? 'ocsf'));
  if (!format) throw new UsageError(`--format must be one of ${EXPORT_FORMATS.join(', ')}.`);
  return {
    name: 'audit',
    action,
    head: values['head'] as string | undefined,
    key: values['key'] as string | undefined,
    format,
    since: toSince(values['since']),
    json: values['json'] === true,
  };
}

/** ISO 8601 in UTC, as the log has it. Days begin where the user is. */
function toSince(given: OptionValue, now: Date = new Date()): string | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  const day = { today: 0, yesterday: 1 }[text];
  if (day !== undefined) return new Date(now.getFullYear(), now.getMonth(), now.getDate() - day).toISOString();
  if (/^\d+[smhd]$/.test(text)) return new Date(now.getTime() - toSpanMs(text, '--since')!).toISOString();
  // Without a time, Date.parse would take the date as one of UTC.
  const at = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  if (!Number.isNaN(at) && /^\d{4}-/.test(text)) return new Date(at).toISOString();
  throw new UsageError(`--since must be today, yesterday, a span such as 2h, or a date (YYYY-MM-DD), not "${text}".`);
}
