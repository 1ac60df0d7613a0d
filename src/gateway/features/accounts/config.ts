// `account` of a server in a configuration.
import { defineKey } from '../../../kernel/config/config-key.ts';
import { choice } from '../../../kernel/config/shape.ts';

export const accountKey = defineKey({
  shape: choice(
    ['user', 'shared'],
    'Whose account is used there (docs/logins.md). user: everybody logs in for themselves, and shares nothing. Default: shared.',
  ),
  normalize: (input) => input,
  apply: 'restart',
  quiet: [],
});
