// The tables of docs/config.md hold every key, as the shape tells it. `npm run renew` renews them.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readConfig } from './read/load-config.ts';
import { CONFIG } from './check/schema.ts';
import type { Shape } from '../kernel/config/shape.ts';

/** Says that a key is the same as another one. */
const ALIAS = /^The same as ("\w+"(?: of "\w+")?(?:, in seconds)?)(?:, as [\w ]+ writes? it)?\.$/;
const PAGE = fileURLToPath(new URL('../../docs/config.md', import.meta.url));

describe('docs/config.md', () => {
  it('has every key', () => {
    const page = readFileSync(PAGE, 'utf8');
    let renewed = page;
    for (const [name, shape] of Object.entries(blocks())) {
      const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
      const [head, rest = ''] = renewed.split(begin);
      expect(rest.split(end), `${begin} … ${end}`).toHaveLength(2);
      renewed = `${head}${begin}\n${table(shape)}\n${end}${rest.split(end)[1]}`;
    }
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, renewed);
    expect(readFileSync(PAGE, 'utf8')).toBe(renewed);
  });

  it.each(examples())('has examples that are good: %s', (ending, text) => {
    const around = { env: { GITHUB_TOKEN: 'x' }, cwd: '/', home: '/users/me' };
    expect(readConfig({ path: `/parley.config.${ending}`, text }, around).problems).toEqual([]);
  });
});

function examples(): [string, string][] {
  const blocks = readFileSync(PAGE, 'utf8').matchAll(/^```(jsonc|yaml)\n((?:\/\/|#) parley[\s\S]*?)^```$/gm);
  return [...blocks].map(([, ending, text]) => [ending!, text!]);
}

/** What each table is of. */
function blocks(): Record<string, Shape> {
  const inside = (shape: Shape, key: string): Shape => keysOf(shape)[key]!;
  const servers = inside(CONFIG, 'mcpServers') as Extract<Shape, { kind: 'record' }>;
  const issuers = inside(inside(CONFIG, 'auth'), 'issuers') as Extract<Shape, { kind: 'list' }>;
  return {
    keys: CONFIG,
    server: firstOf(servers.of),
    login: inside(firstOf(servers.of), 'auth'),
    idp: inside(inside(firstOf(servers.of), 'auth'), 'idp'),
    sandbox: objectOf(inside(firstOf(servers.of), 'sandbox')),
    auth: inside(CONFIG, 'auth'),
    issuer: objectOf(issuers.of),
    pages: inside(objectOf(issuers.of), 'pages'),
    front: inside(inside(CONFIG, 'auth'), 'front'),
    rate: inside(CONFIG, 'rate'),
    listen: firstOf(inside(CONFIG, 'listen')),
    ask: inside(CONFIG, 'ask'),
    model: inside(inside(CONFIG, 'ask'), 'model'),
    limits: inside(CONFIG, 'limits'),
    rules: (inside(CONFIG, 'rules') as Extract<Shape, { kind: 'list' }>).of,
  };
}

function keysOf(shape: Shape): Readonly<Record<string, Shape>> {
  return shape.kind === 'object' ? shape.keys : {};
}

function objectOf(shape: Shape): Shape {
  return shape.kind === 'either' ? shape.of.find(({ kind }) => kind === 'object')! : shape;
}

function firstOf(shape: Shape): Shape {
  return shape.kind === 'either' ? shape.of[0]! : shape;
}

function table(shape: Shape): string {
  const keys = Object.entries(keysOf(shape)).filter(([, { kind }]) => kind !== 'foreign');
  const rows = keys
    .filter(([, { about }]) => !ALIAS.test(about))
    .map(([key, inner]) => `| \`${key}\` | ${typeOf(inner)} | ${inner.about.replaceAll('|', '\\|')} |`);
  return ['| key | is | meaning |', '|---|---|---|', ...rows, ...aliases(keys)].join('\n');
}

/** One row for all keys that are another program's spelling of one above. */
function aliases(keys: [string, Shape][]): string[] {
  const spellings = new Map<string, string[]>();
  for (const [key, { about }] of keys) {
    const wanted = ALIAS.exec(about)?.[1];
    if (wanted !== undefined) spellings.set(wanted, [...(spellings.get(wanted) ?? []), `\`${key}\``]);
  }
  const all = [...spellings].map(([wanted, names]) => `${names.join(', ')} for ${wanted}`);
  return all.length === 0 ? [] : [`| spellings of other programs | | ${all.join('; ')} |`];
}

function typeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'choice':
      return shape.values.map((value) => `\`${value}\``).join(', ');
    case 'either':
      return shape.of.map(typeOf).join(', or ');
    case 'integer':
      return 'number';
    case 'flag':
      return '`true`, `false`';
    case 'list':
      return shape.of.kind === 'text' || shape.of.kind === 'plain' ? 'list of text' : 'list';
    case 'record':
    case 'object':
      return 'object';
    default:
      return 'text';
  }
}
