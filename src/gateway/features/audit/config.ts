// `audit` in a configuration.
import { resolve } from 'node:path';
import { defineKey } from '../../../kernel/config/config-key.ts';
import { isHeadUrl } from './audit-heads.ts';
import { choice, either, flag, object, text } from '../../../kernel/config/shape.ts';

type AuditInput = boolean | { arguments?: 'shapes' | 'values' | undefined; heads?: string | undefined };

export interface AuditConfig {
  readonly arguments: 'shapes' | 'values';
  /** A path, absolute, or a URL. */
  readonly heads?: string;
}

export const auditKey = defineKey({
  shape: either(
    [
      object(
        {
          arguments: choice(
            ['shapes', 'values'],
            'What is recorded of the arguments of calls: their names, types and sizes, or the arguments themselves, without what looks like a secret. Default: shapes.',
          ),
          heads: text(
            'Where the hash of each signed line is sent, so that `parley audit verify --heads` finds a log that was replaced: a file on another mount, relative to this file, or an `https:`, `http:` or `syslog:` URL (`syslog://HOST:PORT`, UDP).',
            { notEmpty: true },
          ),
        },
        'What is recorded.',
      ),
      flag('false: nothing is recorded.'),
    ],
    'What was called, approved and refused, in your state folder; `parley logs` shows it (docs/guides/see-what-happened.md). Default: on.',
  ),
  /** On unless it is switched off: false, or what is recorded of arguments. */
  normalize(input: AuditInput = true, folder: string): false | AuditConfig | undefined {
    if (typeof input !== 'object') return input ? undefined : false;
    const { arguments: shown = 'shapes', heads } = input;
    if (heads === undefined) return { arguments: shown };
    return { arguments: shown, heads: isHeadUrl(heads) ? heads : resolve(folder, heads) };
  },
  apply: 'live',
  quiet: [],
});
