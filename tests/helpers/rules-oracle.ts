// What rules should decide, written down a second time and as plainly as possible, with random rules, spellings and arguments.
import type { Exchange } from 'mcp-parley';
import type { RuleOptions } from '../../src/gateway/features/rules/rule.ts';
import type { Json } from './http-wire.ts';

export interface Thing {
  kind: 'tool' | 'prompt' | 'resource';
  server: string;
  name: string;
}

export interface User {
  principal: string;
  groups: string[];
  scopes: string[];
}

export const USERS: readonly User[] = [
  { principal: 'ann', groups: ['staff'], scopes: ['write'] },
  { principal: 'bob', groups: ['guests'], scopes: [] },
];

export interface Fact {
  thing: Thing;
  user: User;
  args: Json;
}

/** A rule with its expression as a function; it throws where the expression fails. */
export type Rule = RuleOptions & { test?: (args: Json) => boolean };

type Decision = NonNullable<Exchange['decision']>;

const ARGS: readonly Json[] = [
  { amount: 1, to: 'a@x.test' },
  { amount: 150, to: 'a@x.test' },
  { amount: 150, to: 'a@y.test' },
  { amount: 1, to: 'a@y.test' },
  { amount: 'x' },
  {},
];

const EXPRESSIONS: readonly { when: string; test: (args: Json) => boolean }[] = [
  { when: 'args.amount > 100', test: ({ amount }) => (typeof amount === 'number' ? amount > 100 : fail()) },
  { when: 'args.to.endsWith("@x.test")', test: ({ to }) => (typeof to === 'string' ? to.endsWith('@x.test') : fail()) },
];

function fail(): never {
  throw new Error('it fails');
}

export function decide(
  rules: readonly Rule[],
  { thing, user, args }: Fact,
  servers: readonly string[],
): Decision | undefined {
  const given = thing.kind === 'resource' ? {} : args;
  for (const [index, rule] of rules.entries()) {
    if (!matches(rule, thing, user, servers)) continue;
    const name = `rules[${index}]`;
    try {
      if (rule.test && !rule.test(given)) continue;
    } catch {
      return { rule: name, effect: 'deny' };
    }
    return { rule: name, effect: rule.effect! };
  }
  return undefined;
}

export function isUsable(decision: Decision | undefined): boolean {
  return decision?.effect !== 'deny' && decision?.effect !== 'hide';
}

/** Whether some arguments make it usable. */
export function listable(rules: readonly Rule[], about: Omit<Fact, 'args'>, servers: readonly string[]): boolean {
  return ARGS.some((args) => isUsable(decide(rules, { ...about, args }, servers)));
}

function matches(rule: Rule, { kind, server, name }: Thing, user: User, servers: readonly string[]): boolean {
  if (rule.principal !== undefined && rule.principal !== user.principal) return false;
  if (rule.group !== undefined && !user.groups.includes(String(rule.group))) return false;
  if (rule.scope !== undefined && !user.scopes.includes(String(rule.scope))) return false;
  if (rule.server !== undefined && !fits(String(rule.server), server)) return false;
  const method = { tool: 'tools/call', prompt: 'prompts/get', resource: 'resources/read' }[kind];
  if (rule.method !== undefined && !fits(String(rule.method), method)) return false;
  const named = [rule.tool, rule.prompt, rule.resource].some((one) => one !== undefined);
  if (!named) return true;
  const pattern = rule[kind];
  if (pattern === undefined) return false;
  const qualified = `${server}__${name}`;
  if (kind === 'resource' || rule.effect !== 'allow')
    return fits(String(pattern), name) || fits(String(pattern), qualified);
  const poses = servers.some((other) => other !== server && name.startsWith(`${other}__`));
  const isTaken = servers.some((other) => other.length > server.length && qualified.startsWith(`${other}__`));
  return (!poses && fits(String(pattern), name)) || (!isTaken && fits(String(pattern), qualified));
}

function fits(pattern: string, text: string): boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*');
  return new RegExp(`^${source}$`, 's').test(text);
}

export interface Random {
  one<T>(list: readonly T[]): T;
  args(): Json;
  spelling(thing: Thing, path: string): { spelling: string; isValid: boolean };
}

export function toRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const one = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  return { one, args: () => one(ARGS), spelling: (thing, path) => spell(one, thing, path) };
}

function spell(one: Random['one'], { kind, server, name }: Thing, path: string) {
  if (kind === 'resource') {
    const same = [
      name,
      name,
      name.replace(':///', ':////'),
      name.replace(/a/, '%61'),
      `${name}?x=1`,
      `${name}#x`,
      name.replace(/\/([^/]*)$/, '/./$1'),
    ];
    const spelling = one([...same, `${name}?%`, name.toUpperCase()]);
    return { spelling, isValid: spelling === name };
  }
  const qualified = `${server}__${name}`;
  const isTaken = server === 'crm' && name === 'x__go' && path !== '/mcp/crm';
  const odd = [
    name.toUpperCase(),
    ` ${name}`,
    `${name} `,
    `${server}__${qualified}`,
    `web__${name}`,
    `crm__${name}`,
    `${server}_${name}`,
    name.replace('_', '-'),
    `${qualified}\u200b`,
    encodeURIComponent(`${name}/`),
  ];
  const spelling = one([
    qualified,
    qualified,
    qualified,
    ...(path === `/mcp/${server}` ? [name, name, name] : [name]),
    one(odd),
  ]);
  // At the path of one server its own names are listed; everywhere the qualified name is taken.
  const isOwn = path === `/mcp/${server}` && spelling === name && !name.startsWith(`${server}__`);
  const isPosed = name.includes('__');
  return { spelling, isValid: !isTaken && (isOwn || (spelling === qualified && !isPosed)) };
}

export function randomRules(random: Random): Rule[] {
  const expressions = [...EXPRESSIONS];
  const count = random.one([1, 2, 3, 5, 8, 20]);
  return Array.from({ length: count }, (): Rule => {
    const maybe = <T>(values: readonly T[]): T | undefined =>
      random.one([true, false, false]) ? random.one(values) : undefined;
    const expression = random.one([true, false, false]) ? expressions.pop() : undefined;
    const rule: Rule = {
      principal: maybe(['ann', 'bob']),
      group: maybe(['staff', 'guests']),
      scope: maybe(['write']),
      server: maybe(['crm', 'web', 'flows', 'crm*', '*']),
      method: random.one([true, false, false, false]) ? random.one(['tools/call', 'prompts/*', '*']) : undefined,
      ...random.one<Rule>([
        {},
        {
          tool: random.one([
            'find',
            '*find*',
            'crm__*',
            'crm__find',
            'x__go',
            'crm__x__go',
            'delete_*',
            'book',
            'flows__*',
            'long_*',
            '*',
          ]),
        },
        { prompt: random.one(['brief', 'web__*', '*']) },
        { resource: random.one(['file:///etc/*', 'file:///*', 'https://example.com/*', '*']) },
      ]),
      ...expression,
      effect: random.one(['allow', 'deny', 'ask', 'hide', 'deny']),
    };
    return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
  });
}
