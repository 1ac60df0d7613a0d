// `tools` of a server in a configuration.
import { defineKey } from '../../../kernel/config/config-key.ts';
import { either, list, object, text } from '../../../kernel/config/shape.ts';
import { withoutUndefined } from '../../../kernel/config/without-undefined.ts';

export const serverToolsKey = defineKey({
  shape: object(
    {
      allow: list(text('A name or glob.'), 'Only these tools are there.'),
      deny: list(text('A name or glob.'), 'These tools are not there; wins over "allow".'),
      approve: either(
        [text('`destructive`, `always`, or a glob.'), list(text('A name or glob.'), 'These tools.')],
        'These tools need the approval of a person: `destructive`, `always`, or globs.',
      ),
    },
    'Rules for the tools of this server, by the names it gives them.',
  ),
  normalize: (input) => input && withoutUndefined({ ...input }),
  apply: 'live',
  quiet: ['allow', 'deny', 'approve'],
});
