// `pins` in a configuration, for all servers and for one.
import { defineKey } from '../../../kernel/config/config-key.ts';
import { withoutUndefined } from '../../../kernel/config/without-undefined.ts';
import { choice, either, object } from '../../../kernel/config/shape.ts';

const PIN_ACTIONS = ['destructive', 'flag', 'hold'] as const;
const PINS = either(
  [
    choice(
      [...PIN_ACTIONS, 'off'],
      'flag: it is reported; hold: neither listed nor callable until `parley pins accept`; destructive: held unless it only reads; off: nothing is pinned.',
    ),
    object(
      {
        changed: choice(PIN_ACTIONS, 'Tools and prompts that have changed. Default: destructive.'),
        new: choice(PIN_ACTIONS, 'Tools and prompts that were not there before. Default: destructive.'),
      },
      'The same for each kind of difference.',
    ),
  ],
  'What happens when a server changes what it lists after it was first seen (docs/safety.md#what-servers-say).',
);

export const pinsKey = defineKey({
  shape: { ...PINS, about: `${PINS.about} Default: destructive.` },
  normalize: (input) => (typeof input === 'object' ? withoutUndefined({ ...input }) : input),
  apply: 'live',
  quiet: [],
});

export const serverPinsKey = defineKey({
  ...pinsKey,
  apply: 'restart',
  shape: { ...PINS, about: `${PINS.about} Default: the one for all servers.` },
});
