// Which edits of a trusted file apply without being trusted again. Each line that gives somebody something has to be refused.
import { describe, expect, test } from 'vitest';
import { onlyTightens, shapeOf } from './only-tightens.ts';

const FILES = { command: 'node', args: ['files.mjs'], env: { A: '1' } };
const WEB = { url: 'https://web.example/mcp' };
const ALLOWING = { rule: { tool: 'read_*', effect: 'allow' }, hiding: { tool: 'x', effect: 'hide' } };

const TRUSTED = {
  mcpServers: { files: FILES, mail: WEB, web: { ...WEB, tools: { allow: ['a', 'b'], deny: ['c'], approve: ['d'] } } },
  rules: [ALLOWING.rule, ALLOWING.hiding],
  pins: 'flag',
};
type Config = Record<string, unknown>;

function withServer(name: string, entry: object): Config {
  return { ...TRUSTED, mcpServers: { ...TRUSTED.mcpServers, [name]: entry } };
}
const withTools = (tools: object): Config => withServer('web', { ...WEB, tools });
const withRules = (...rules: object[]): Config => ({ ...TRUSTED, rules });
const deny = { tool: 'write_*', effect: 'deny' };

describe('an edit that only takes away', () => {
  test.each<[string, Config]>([
    ['nothing', TRUSTED],
    [
      'another order of the servers',
      { ...TRUSTED, mcpServers: { web: TRUSTED.mcpServers.web, mail: WEB, files: FILES } },
    ],
    ['a server that is gone', { ...TRUSTED, mcpServers: { web: TRUSTED.mcpServers.web, mail: WEB } }],
    ['a server that is switched off', withServer('files', { ...FILES, disabled: true })],
    ['a tool that is denied', withServer('files', { ...FILES, tools: { deny: ['write'] } })],
    ['one more that is denied', withTools({ allow: ['a', 'b'], deny: ['c', 'e'], approve: ['d'] })],
    ['the only tools that are allowed', withServer('files', { ...FILES, tools: { allow: ['read'] } })],
    ['one less that is allowed', withTools({ allow: ['a'], deny: ['c'], approve: ['d'] })],
    ['approval of everything', withTools({ allow: ['a', 'b'], deny: ['c'], approve: 'always' })],
    ['approval of one more', withTools({ allow: ['a', 'b'], deny: ['c'], approve: ['d', 'e'] })],
    ['a tool that is excluded as Gemini writes it', withServer('files', { ...FILES, excludeTools: ['write'] })],
    ['a rule that denies, at the end', withRules(ALLOWING.rule, ALLOWING.hiding, deny)],
    ['a rule that hides, first', withRules({ tool: 'y', effect: 'hide' }, ALLOWING.rule, ALLOWING.hiding)],
    ['stricter pins', { ...TRUSTED, pins: 'hold' }],
    ['pins that are stricter by default', { mcpServers: TRUSTED.mcpServers, rules: TRUSTED.rules }],
    ['pins of one server that hold', withServer('files', { ...FILES, pins: 'hold' })],
  ])('is %s', (_, next) => {
    expect(onlyTightens(shapeOf(TRUSTED), next)).toBe(true);
  });
});

describe('an edit that has to be trusted', () => {
  test.each<[string, Config]>([
    ['a new server', withServer('other', { command: 'sh' })],
    ['another command', withServer('files', { ...FILES, command: 'sh' })],
    ['another argument', withServer('files', { ...FILES, args: ['other.mjs'] })],
    ['a variable', withServer('files', { ...FILES, env: { A: '1', NODE_OPTIONS: '--import=./x.mjs' } })],
    ['a variable less', withServer('files', { ...FILES, env: {} })],
    ['another folder', withServer('files', { ...FILES, cwd: '..' })],
    ['rules of a server that are gone', { ...TRUSTED, mcpServers: { files: FILES, mail: WEB, web: WEB } }],
    ['all servers but one, which loses the prefix of its names', { ...TRUSTED, mcpServers: { mail: WEB } }],
    ['a denied tool less', withTools({ allow: ['a', 'b'], deny: [], approve: ['d'] })],
    ['a denied tool that has become another', withTools({ allow: ['a', 'b'], deny: ['e'], approve: ['d'] })],
    ['a tool that is allowed', withTools({ allow: ['a', 'b', 'z'], deny: ['c'], approve: ['d'] })],
    ['allowed tools that are gone', withTools({ deny: ['c'], approve: ['d'] })],
    ['an empty list of allowed tools', withTools({ allow: [], deny: ['c'], approve: ['d'] })],
    ['less approval', withTools({ allow: ['a', 'b'], deny: ['c'], approve: [] })],
    ['approval of destructive calls only', withTools({ allow: ['a', 'b'], deny: ['c'], approve: 'destructive' })],
    ['a glob from a variable', withServer('files', { ...FILES, tools: { deny: ['${HOME}'] } })],
    ['a glob from a file', withServer('files', { ...FILES, tools: { deny: ['${file:~/.ssh/id_rsa}'] } })],
    [
      'a server that is switched on',
      { ...TRUSTED, mcpServers: { ...TRUSTED.mcpServers, files: { ...FILES, disabled: false } } },
    ],
    ['a rule that allows', withRules({ tool: '*', effect: 'allow' }, ALLOWING.rule, ALLOWING.hiding)],
    [
      'a rule that asks, in front of one that hides',
      withRules(ALLOWING.rule, { tool: 'x', effect: 'ask' }, ALLOWING.hiding),
    ],
    ['a rule that denies what another one hides', withRules(deny, ALLOWING.rule, ALLOWING.hiding)],
    ['a rule with an expression', withRules(ALLOWING.rule, ALLOWING.hiding, { ...deny, when: 'args.a == "x"' })],
    ['a rule that marks', withRules(ALLOWING.rule, ALLOWING.hiding, { server: 'web', marks: 'private' })],
    ['a rule less', withRules(ALLOWING.hiding)],
    ['rules in another order', withRules(ALLOWING.hiding, ALLOWING.rule)],
    ['rules that are gone', { mcpServers: TRUSTED.mcpServers, pins: 'flag' }],
    ['no pins', { ...TRUSTED, pins: 'off' }],
    ['pins of one server', withServer('files', { ...FILES, pins: 'flag' })],
    ['a step', { ...TRUSTED, steps: ['./x.mjs'] }],
    ['a second block of servers', { ...TRUSTED, servers: {} }],
    ['no record', { ...TRUSTED, audit: false }],
    ['open doors', { ...TRUSTED, listen: { open: true } }],
    ['a key called __proto__', JSON.parse(`{ "__proto__": { "a": 1 }, ${JSON.stringify(TRUSTED).slice(1)}`) as Config],
  ])('is %s', (_, next) => {
    expect(onlyTightens(shapeOf(TRUSTED), next)).toBe(false);
  });

  test('a server that is gone has to be trusted where names depend on the other servers', () => {
    const trusted = { ...TRUSTED, names: 'on-collision' };
    expect(onlyTightens(shapeOf(trusted), { ...trusted, mcpServers: { files: FILES, mail: WEB } })).toBe(false);
  });

  test('a list of allowed tools has to be trusted if it takes the place of that of another client', () => {
    const entry = { ...FILES, includeTools: ['a'] };
    const [before, now] = [entry, { ...entry, tools: { allow: ['*'] } }].map((files) => ({ mcpServers: { files } }));
    expect(onlyTightens(shapeOf(before), now!)).toBe(false);
  });

  test('a text in place of a number, and a date in place of another, have to be trusted', () => {
    const [first, second] = [new Date(0), new Date(1)];
    expect(onlyTightens(shapeOf({ mcpServers: {}, startMs: 1 }), { mcpServers: {}, startMs: '1' })).toBe(false);
    expect(onlyTightens(shapeOf({ a: first }), { a: second })).toBe(false);
  });

  test('what is kept of a trusted file says nothing of its values', () => {
    expect(JSON.stringify(shapeOf({ headers: { authorization: 'top-s3cret' } }))).not.toContain('s3cret');
  });
});
