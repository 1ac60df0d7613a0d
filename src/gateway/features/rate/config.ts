// `rate` in a configuration, for all servers and for one.
import { RATE_PATTERN } from '../../../kernel/base/rate.ts';
import { defineKey } from '../../../kernel/config/config-key.ts';
import { withoutUndefined } from '../../../kernel/config/without-undefined.ts';
import { choice, object, record, text } from '../../../kernel/config/shape.ts';

const rate = (about: string) => text(about, { pattern: RATE_PATTERN, like: 'a rate such as "60/min"' });

const RATE = object(
  {
    perCaller: rate(
      'Requests of one caller (a principal, else a network address), such as `60/min`; also `/s`, `/h`, `/day`.',
    ),
    perServer: rate('Calls to one server by all callers together.'),
    tools: record(
      rate('How often one caller may call what matches.'),
      "Rates by tool: the server's own name, `server__name`, or a glob such as `github__*`. What one glob matches is counted together.",
    ),
    whenDown: choice(
      ['allow', 'deny'],
      'While gateways that share a `state` cannot reach it: `allow` (the default) counts at each gateway by itself; `deny` refuses.',
    ),
  },
  'How often callers may call (docs/safety.md). Default: without limit.',
);

const QUIET = ['perCaller', 'perServer', 'tools.*'];

export const rateKey = defineKey({
  shape: RATE,
  normalize: (input) => input && withoutUndefined({ ...input }),
  apply: 'live',
  quiet: QUIET,
});

export const serverRateKey = defineKey({
  ...rateKey,
  shape: { ...RATE, about: 'How often callers may call this server. Default: the rates for all servers.' },
});
