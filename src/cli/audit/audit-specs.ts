// The rows of the table of commands that are about the audit log.
import type { CommandSpec } from '../command-specs.ts';
import { COMMON_OPTIONS } from '../option-specs.ts';
import type { OptionSpec } from '../option-specs.ts';

export const AUDIT_ACTIONS = ['verify', 'export', 'key'] as const;
export const EXPORT_FORMATS = ['jsonl', 'ocsf'] as const;
export const DEFAULT_LOG_LINES = 50;

const { json, help } = COMMON_OPTIONS;
const since: OptionSpec = {
  type: 'string',
  value: 'WHEN',
  text: 'from then on: today, yesterday, a span such as 2h, or a date (YYYY-MM-DD, or with a time)',
};

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
