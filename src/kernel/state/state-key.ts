// `state` in a configuration: where gateways remember what they share.
import { defineKey } from '../config/config-key.ts';
import { text } from '../config/shape.ts';

export const stateKey = defineKey({
  shape: text(
    'What several gateways share, in Redis or Valkey: `redis://HOST` or `rediss://HOST`; for those of one user and machine `file:///FOLDER` (docs/config.md#several-gateways). Values in Redis are sealed with `keys`. Default: each gateway has its own.',
    { pattern: '^(rediss?|file)://.+', like: 'redis://HOST, rediss://HOST or file:///FOLDER' },
  ),
  normalize: (input) => input,
  apply: 'restart',
  quiet: [],
});
