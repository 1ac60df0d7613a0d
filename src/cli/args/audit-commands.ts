// `parley logs` and `parley audit` on the command line.
import type { CommandSpec } from './command-specs.ts';
import { COMMON_OPTIONS } from './option-specs.ts';
import type { OptionSpec } from './option-specs.ts';
import { UsageError, none, toSpanMs } from './option-values.ts';
import type { OptionValue, ParsedArgs } from './option-values.ts';

const AUDIT_ACTIONS = ['verify', 'export', 'key'] as const;
const EXPORT_FORMATS = ['jsonl', 'ocsf'] as const;
export const DEFAULT_LOG_LINES = 50;

const { json, help } = COMMON_OPTIONS;
const since: OptionSpec = {
  type: 'string',
  value: 'WHEN',
  text: 'from then on: today, yesterday, a span such as 2h, or a date (YYYY-MM-DD, or with a time)',
};

export interface LogsCommand {
  name: 'logs';
  follow: boolean;
  /** ISO 8601. Undefined: the last lines. */
  since: string | undefined;
  /** A glob. */
  tool: string | undefined;
  server: string | undefined;
  errors: boolean;
  json: boolean;
}

export interface AuditCommand {
  name: 'audit';
  action: (typeof AUDIT_ACTIONS)[number];
  head: string | undefined;
  key: string | undefined;
  format: (typeof EXPORT_FORMATS)[number];
  since: string | undefined;
  json: boolean;
}

export const AUDIT_SPECS: readonly CommandSpec[] = [
  {
    name: 'logs',
    summary: 'show what was called, approved and refused, by whom and how it ended',
    usage: ['[-f] [--since WHEN] [--tool GLOB] [--server NAME] [--errors] [--json]'],
    about: [
      `Shows the last ${DEFAULT_LOG_LINES} lines of the audit log of all your gateways, or everything with --since. Arguments are shown as`,
      'shapes unless the configuration asks for values.',
    ],
    options: {
      follow: { type: 'boolean', short: 'f', text: 'wait for more' },
      since,
      tool: { type: 'string', value: 'GLOB', text: 'a tool, prompt or resource, such as "delete_*"' },
      server: { type: 'string', value: 'NAME', text: 'a server of the configuration' },
      errors: { type: 'boolean', text: 'only what failed or was refused' },
      json: { ...json, text: 'print the lines as they are recorded' },
      help,
    },
    examples: [
      { line: 'parley logs --since yesterday --errors', does: 'what failed or was refused since yesterday' },
      { line: 'parley logs -f --server github', does: 'what is called there now' },
    ],
  },
  {
    name: 'audit',
    summary: 'prove that the audit log is complete, or hand it to another program',
    usage: [
      'verify [--head HASH] [--key KEY] [--json]',
      `export [--format ${EXPORT_FORMATS.join('|')}] [--since WHEN]`,
      'key',
    ],
    about: [
      'Each line holds the hash of the one before it, and the key of this user signs them. Keep the public key ("key") or the head that',
      '"verify" prints on another machine: with it, "verify" also finds a log that somebody has replaced as a whole.',
    ],
    options: {
      head: {
        type: 'string',
        value: 'HASH',
        text: 'a head that "verify" printed earlier; its line must still be there',
      },
      key: { type: 'string', value: 'KEY', text: 'the public key, as "audit key" printed it' },
      format: {
        type: 'string',
        value: 'F',
        text: `${EXPORT_FORMATS.join(' or ')} (default ocsf)`,
        choices: EXPORT_FORMATS,
      },
      since,
      json: { ...json, text: 'print the report as JSON' },
      help,
    },
    words: { choices: AUDIT_ACTIONS },
    examples: [
      { line: 'parley audit verify', does: 'exit status 1 if lines were changed, removed or moved' },
      { line: 'parley audit export --format ocsf --since 1d', does: 'one JSON object a line, for a SIEM' },
    ],
  },
];

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
