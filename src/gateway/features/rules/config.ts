// `rules` in a configuration.
import { defineKey } from '../../../kernel/config/config-key.ts';
import { MAX_MS, choice, either, flag, integer, list, object, text } from '../../../kernel/config/shape.ts';
import { withoutUndefined } from '../../../kernel/config/without-undefined.ts';
import { RULE_ANNOTATIONS, RULE_EFFECTS, RULE_MARKS } from './rule.ts';
import { CALL_TOOL } from '../../../kernel/methods.ts';

const globs = (about: string) =>
  either(
    [text('A name or glob.', { notEmpty: true }), list(text('A name or glob.', { notEmpty: true }), 'Any of them.')],
    about,
  );
const marks = (about: string) =>
  either([choice(RULE_MARKS, 'A mark.'), list(choice(RULE_MARKS, 'A mark.'), 'Marks.')], about);

const RULE = object(
  {
    principal: globs(
      'Who calls: `key:NAME` is an API key, `user:NAME` the user of a key or a login, as in `ask.trust`; `anonymous` without a login. The principal of the log works, too: `key:USER`, `ISSUER#SUBJECT`.',
    ),
    group: globs('A group of the caller.'),
    scope: either(
      [text('A scope.', { notEmpty: true }), list(text('A scope.', { notEmpty: true }), 'Any of them.')],
      'A scope that the key or token of the caller has.',
    ),
    server: globs('The server.'),
    tool: globs("The tool, by the server's own name or as `server__name`."),
    prompt: globs('The prompt, in the same way.'),
    resource: globs('The resource, by its URI, in every spelling of it.'),
    method: globs(`The method, such as \`${CALL_TOOL}\`.`),
    annotation: either(
      [choice(RULE_ANNOTATIONS, 'A claim.'), list(choice(RULE_ANNOTATIONS, 'A claim.'), 'Any of them.')],
      'What the server claims of the tool; not with `allow`.',
    ),
    marked: marks('A mark that another rule has put on it.'),
    after: marks('Marks of what the caller has read before; all of them.'),
    per: choice(['principal', 'session'], 'Whose calls `after` is about. Default: principal.'),
    withinMs: integer('How long ago that may be. Default: a day.', { min: 1, max: MAX_MS }),
    when: text('An expression (CEL) that must be true. If it fails, the request is denied.', { notEmpty: true }),
    effect: choice(RULE_EFFECTS, 'allow; deny: refused; ask: a person decides; hide: as if it were not there.'),
    marks: marks('Instead of an effect: what matches is private or untrusted to read, or leads out.'),
  },
  'One rule: all its conditions have to hold.',
);

const RULES = list(
  RULE,
  'What clients may use; the first matching rule with an effect decides (docs/guides/block-or-approve.md).',
);

export const rulesKey = defineKey({
  shape: RULES,
  normalize: (input) => input?.map((rule) => withoutUndefined({ ...rule })),
  apply: 'live',
  // They come after those of the user's own configuration.
  quiet: Object.keys(RULE.kind === 'object' ? RULE.keys : {}),
});

/** Of a server. */
export const trustAnnotationsKey = defineKey({
  shape: flag(
    'true: rules believe what the server says about its own tools, such as that one only reads. Default: false.',
  ),
  normalize: (input) => input,
  apply: 'live',
  quiet: [],
});
