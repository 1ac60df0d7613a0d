// `observe` in a configuration.
import { defineKey } from '../../../kernel/config/config-key.ts';
import { flag, object } from '../../../kernel/config/shape.ts';
import { withoutUndefined } from '../../../kernel/config/without-undefined.ts';

export const observeKey = defineKey({
  shape: object(
    {
      metrics: flag('Counters at `/metrics`. Default: on ports of loopback addresses.'),
      tracing: flag('OpenTelemetry spans. Default: when an SDK is registered in the process.'),
    },
    'What is counted and traced (docs/observing.md).',
  ),
  normalize: (input) => input && withoutUndefined(input),
  apply: 'restart',
  quiet: ['tracing'],
});
