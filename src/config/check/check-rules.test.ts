import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { RuleOptions } from '../../gateway/features/rules/rule.ts';
import { readConfig } from '../read/load-config.ts';
import { expressionProblem } from './check-rules.ts';

const path = join(tmpdir(), 'parley.config.json');
const around = { env: {}, cwd: tmpdir(), home: tmpdir() };

function problemsOf(rules: (RuleOptions | object)[], more: object = {}): string[] {
  const mcpServers = { crm: { url: 'http://crm.test/mcp' }, web: { url: 'http://web.test/mcp' } };
  const { problems } = readConfig({ path, text: JSON.stringify({ mcpServers, rules, ...more }) }, around);
  return problems.map(({ level, path: at, message }) => `${level} ${at}: ${message}`);
}

describe('rules in a configuration', () => {
  it.each<[object, string]>([
    [{ tool: 'x' }, 'error rules[0]: needs an "effect"'],
    [{ effect: 'permit' }, 'error rules[0].effect'],
    [{ efect: 'deny' }, 'error rules[0].efect: unknown key'],
    [{ annotation: 'readOnly', effect: 'allow' }, 'error rules[0].annotation: is a claim of the server'],
    [{ tool: [], effect: 'deny' }, 'error rules[0].tool: must be a text'],
    [{ effect: 'deny', marks: 'out' }, 'error rules[0]: has an "effect" and "marks"'],
    [{ per: 'session', effect: 'ask' }, 'error rules[0]: has "per"'],
  ])('%j is refused', (rule, problem) => {
    expect(problemsOf([rule]).join('\n')).toContain(problem);
  });

  it.each<[string, RuleOptions[], string]>([
    [
      'a server that is not there',
      [{ server: 'crn', effect: 'deny' }],
      'rules[0]: this rule can never match: no server',
    ],
    ['groups without a login', [{ group: 'staff', effect: 'deny' }], 'without "auth"'],
    ['a mark that nothing has', [{ marked: 'out', effect: 'ask' }], 'no rule puts the mark "out"'],
    ['a past that cannot be', [{ after: 'private', effect: 'ask' }], 'no rule puts the mark "private"'],
    [
      'the same after a rule for all',
      [
        { server: 'crm', effect: 'allow' },
        { server: 'crm', tool: 'delete', effect: 'deny' },
      ],
      'rules[1]: this rule can never match: rules[0] decides first',
    ],
    [
      'a name after its glob',
      [
        { tool: 'crm__*', effect: 'ask' },
        { tool: 'crm__delete', effect: 'deny' },
      ],
      'rules[0] decides first',
    ],
  ])('%s is warned of', (_, rules, problem) => {
    expect(problemsOf(rules).join('\n')).toContain(problem);
  });

  it('rules that may match are not', () => {
    const rules: RuleOptions[] = [
      { tool: 'crm__read', effect: 'allow' },
      { tool: 'crm__*', when: 'size(args) > 3', effect: 'deny' },
      { tool: 'crm__*', effect: 'ask' },
      { principal: 'key:ann', effect: 'allow' },
      { server: 'web', marks: 'untrusted' },
      { tool: '*', after: 'untrusted', effect: 'ask' },
      { resource: 'file:///etc/*', effect: 'deny' },
    ];
    expect(problemsOf(rules)).toEqual([]);
  });

  it.each([
    ['args.x >', 'Unexpected'],
    ['nothing == 1', 'Unknown variable: nothing'],
    ['1 + 1', 'must be true or false'],
    ['args.x.matches("(a+)+$")', '"matches" is not one of the functions'],
    ['args.a.all(x, args.b.all(y, y == x))', 'stands in another loop'],
    [`args.x == "${'x'.repeat(2000)}"`, 'at most 2000 are read'],
    [`${'('.repeat(40)}true${')'.repeat(40)}`, 'maxDepth'],
    [Array.from({ length: 200 }, () => 'true').join(' && '), 'maxAstNodes'],
  ])('the expression %s is refused', async (when, reason) => {
    expect(await expressionProblem('rules[0]', when)).toContain(reason);
  });
});
