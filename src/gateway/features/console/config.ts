// `console` in a configuration.
import { defineKey } from '../../../kernel/config/config-key.ts';
import { flag } from '../../../kernel/config/shape.ts';

export const consoleKey = defineKey({
  shape: flag('Pages at `/` that show servers, calls and questions (docs/console.md). Default: true.'),
  normalize: (input) => input,
  apply: 'restart',
  quiet: [''],
});
