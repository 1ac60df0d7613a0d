// What can be typed for `parley logs` and `parley audit`.
import { defineFeatureCommand, none, toAction } from '../../../kernel/command/command-spec.ts';
import { COMMON, UsageError, option, toSpanMs } from '../../../kernel/command/option.ts';

const { checked, choice, flag, text } = option;
const AUDIT_ACTIONS = ['verify', 'export', 'key'] as const;
const EXPORT_FORMATS = ['jsonl', 'ocsf'] as const;
const DEFAULT_LINES = 50;

const { json } = COMMON;
const since = checked(
  'WHEN',
  'from then on: today, yesterday, a span such as 2h, or a date (YYYY-MM-DD, or with a time)',
  toTime,
);

export const logsCommand = defineFeatureCommand({
  name: 'logs',
  summary: 'show what was called, approved and refused, by whom and how it ended',
  usage: [
    '[-f] [--since WHEN] [--until WHEN] [--tool GLOB] [--server NAME]',
    '[--user GLOB] [--client GLOB] [--slow SPAN] [--errors] [--json]',
  ],
  about: [
    `Shows the last ${DEFAULT_LINES} lines of the audit log of all your gateways, or everything with --since. Arguments are shown as`,
    'shapes unless the configuration asks for values.',
  ],
  options: {
    follow: flag('wait for more', 'f'),
    since,
    until: checked('WHEN', 'only what was before then, such as today', toTime),
    tool: text('GLOB', 'a tool, prompt or resource, such as "delete_*"'),
    server: text('NAME', 'a server of the configuration'),
    user: text('GLOB', 'who called: a user or the name of a key, such as "alice" or "*#alice"'),
    client: text('GLOB', 'the client, as it names itself, such as "cursor*"'),
    slow: checked('SPAN', 'only what took at least so long, such as 500ms or 2s', toSlowMs),
    errors: flag('only what failed or was refused'),
    json: { ...json, text: 'print the lines as they are recorded' },
  },
  examples: {
    'parley logs --since yesterday --errors': 'what failed or was refused since yesterday',
    'parley logs -f --server github': 'what is called there now',
    'parley logs --since 1d --user alice --slow 2s': 'the slow calls of a user since yesterday at this time',
  },
  read({ options, words }) {
    none(words, 'logs');
    const { since: from, until: to, follow } = options;
    if (follow && to !== undefined) throw new UsageError('--follow shows what comes, so --until cannot be with it.');
    if (from !== undefined && to !== undefined && to <= from) throw new UsageError('--until must be after --since.');
    return { ...options, most: options.since === undefined ? DEFAULT_LINES : undefined };
  },
  run: async (command, tools) => (await import('./run-logs.ts')).runLogs(command, tools),
});

export const auditCommand = defineFeatureCommand({
  name: 'audit',
  summary: 'prove that the audit log is complete, or hand it to another program',
  usage: [
    'verify [--head HASH] [--heads FILE] [--key KEY] [--json]',
    `export [--format ${EXPORT_FORMATS.join('|')}] [--since WHEN]`,
    'key',
  ],
  about: [
    'Each line holds the hash of the one before it, and the key of this user signs them. Keep the public key ("key") or the head that',
    '"verify" prints on another machine, or let "audit.heads" of the configuration send every head there: with it, "verify" also finds a log',
    'that somebody has replaced as a whole.',
  ],
  options: {
    head: text('HASH', 'a head that "verify" printed earlier; its line must still be there'),
    heads: text('FILE', 'the heads that "audit.heads" sent elsewhere; their lines must still be there'),
    key: text('KEY', 'the public key, as "audit key" printed it'),
    format: choice('F', EXPORT_FORMATS, `${EXPORT_FORMATS.join(' or ')} (default ocsf)`),
    since,
    json: { ...json, text: 'print the report as JSON' },
  },
  words: { choices: AUDIT_ACTIONS },
  examples: {
    'parley audit verify': 'exit status 1 if lines were changed, removed or moved',
    'parley audit export --format ocsf --since 1d': 'one JSON object a line, for a SIEM',
  },
  read({ options, words: [word, ...more] }) {
    const action = toAction(word, AUDIT_ACTIONS);
    none(more, `audit ${action}`);
    return { action, ...options, format: options.format ?? 'ocsf' };
  },
  run: async (command, tools) => (await import('./run-audit.ts')).runAudit(command, tools),
});

function toSlowMs(typed: string, name: string): number {
  const [, count, unit] = /^(\d{1,9})(ms|s|m)$/.exec(typed) ?? [];
  if (count !== undefined) return Number(count) * { ms: 1, s: 1000, m: 60_000 }[unit as 'ms' | 's' | 'm'];
  throw new UsageError(`${name} must be a span such as 500ms, 2s or 1m, not "${typed}".`);
}

/** ISO 8601 in UTC, as the log has it. Days begin where the user is. */
function toTime(typed: string, name: string): string {
  const now = new Date();
  const day = { today: 0, yesterday: 1 }[typed];
  if (day !== undefined) return new Date(now.getFullYear(), now.getMonth(), now.getDate() - day).toISOString();
  if (/^\d+[smhd]$/.test(typed)) return new Date(now.getTime() - toSpanMs(typed, name)).toISOString();
  // Without a time, Date.parse would take the date as one of UTC.
  const at = Date.parse(/^\d{4}-\d\d-\d\d$/.test(typed) ? `${typed}T00:00` : typed);
  if (!Number.isNaN(at) && /^\d{4}-/.test(typed)) return new Date(at).toISOString();
  throw new UsageError(`${name} must be today, yesterday, a span such as 2h, or a date (YYYY-MM-DD), not "${typed}".`);
}
