// The configuration key for rates, of all servers and of one.
import { RATE_PATTERN } from '../../shared/rate.ts';
import { object, record, text } from './shape.ts';

const rate = (about: string) => text(about, { pattern: RATE_PATTERN, like: 'a rate such as "60/min"' });

export const RATE = object(
  {
    perCaller: rate(
      'Requests of one caller (a principal, else a network address), such as `60/min`; also `/s`, `/h`, `/day`.',
    ),
    perServer: rate('Calls to one server by all callers together.'),
    tools: record(
      rate('How often one caller may call what matches.'),
      "Rates by tool: the server's own name, `server__name`, or a glob such as `github__*`. What one glob matches is counted together.",
    ),
  },
  'How often callers may call (docs/safety.md). Default: without limit.',
);
