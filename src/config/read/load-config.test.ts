import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig, readConfig } from './load-config.ts';
import { normalizeConfig } from '../normalize-config.ts';
import { printConfig } from '../redact-config.ts';
import { TOP_KEYS } from '../check/schema.ts';
import type { ConfigInput } from '../check/schema.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-load-'));
afterAll(() => rmSync(root, { recursive: true }));
const around = { env: { TOKEN: 'abcdefgh' }, cwd: root, home: join(root, 'home') };

describe('an unknown key at the top', () => {
  const of = (name: string, more: object) => {
    const text = JSON.stringify({ mcpServers: { x: { command: 'x' } }, ...more });
    const { problems } = readConfig({ path: join(root, name), text }, { ...around, read: () => '' });
    return problems.filter(({ message }) => message === 'unknown key').map(({ level, path }) => `${level} ${path}`);
  };

  it.each(['parley.config.json', 'mcp.json', 'any.json'])('that is nearly ours is an error: %s', (name) => {
    expect(of(name, { rulez: [] })).toEqual(['error rulez']);
    expect(of(name, { step: [] })).toEqual(['error step']);
  });

  it.each(['parley.config.json', 'mcp.json', 'any.json'])('is an error in a file for Parley: %s', (name) => {
    expect(of(name, { names: 'always', policyRules: [] })).toEqual(['error policyRules']);
    expect(of(name, { names: 'always', 'x-mine': 1 })).toEqual([]);
  });

  it('is of no interest in the file of another program', () => {
    expect(of('mcp.json', { theme: 'dark' })).toEqual([]);
    expect(of('config.json', { log_dir: '/tmp' })).toEqual(['warning log_dir']);
  });
});

describe('loading', () => {
  it('says where it looked when there is nothing', () => {
    const { config, problems } = loadConfig(undefined, around);
    expect(config).toBeUndefined();
    expect(problems[0]).toMatchObject({ level: 'error', message: 'no configuration was found' });
    expect(problems[0]?.hint).toContain(join(root, 'parley.config.yaml'));
  });

  it('says which file is not there', () => {
    expect(loadConfig('missing.json', around).problems[0]?.message).toBe(`${join(root, 'missing.json')} is not there`);
  });

  it('says why a file cannot be read', () => {
    writeFileSync(join(root, 'locked.json'), '{}');
    const read = () => {
      throw Object.assign(new Error('no'), { code: 'EACCES' });
    };
    expect(loadConfig('locked.json', { ...around, read }).problems[0]?.message).toBe('cannot be read: EACCES');
  });

  it('has all servers share as the command line says, or the file, unless a server says otherwise', () => {
    const text =
      '{ "mcpServers": { "a": { "url": "http://a.test" }, "b": { "url": "http://b.test", "share": "auto" } }, "share": "session" }';
    const shares = (share?: 'all') => {
      const { config } = readConfig({ path: join(root, 'parley.config.json'), text }, { ...around, share });
      return Object.values(config!.servers).map((server) => server.share);
    };
    expect(shares()).toEqual(['session', 'auto']);
    expect(shares('all')).toEqual(['all', 'auto']);
  });

  it('takes a byte order mark for what it is', () => {
    writeFileSync(join(root, 'parley.config.json'), '\uFEFF{ "mcpServers": { "a": "http://127.0.0.1:1/mcp" } }');
    expect(loadConfig(undefined, around)).toMatchObject({ path: join(root, 'parley.config.json'), problems: [] });
  });

  it('lists every file that a configuration is made from', () => {
    writeFileSync(join(root, 'vars'), 'A=1');
    const text = '{ "mcpServers": { "a": { "command": "a", "envFile": "vars" } } }';
    const { files, config } = readConfig({ path: join(root, 'parley.config.json'), text }, around);
    expect(files).toEqual(['parley.config.json', 'vars'].map((name) => join(root, name)));
    expect(config?.servers['a']).toMatchObject({ env: { A: '1' } });
  });
});

describe('the workspace', () => {
  it.each([
    ['/p/.vscode/mcp.json', '/p'],
    ['/p/.cursor/mcp.json', '/p'],
    ['/p/parley.config.json', '/p'],
    ['/users/me/.config/parley/parley.config.json', '/here'],
  ])('of %s is %s', (path, workspace) => {
    const text = '{ "servers": { "a": { "command": "a", "args": ["${workspaceFolder}"] } } }';
    const { config } = readConfig({ path, text }, { env: {}, cwd: '/here', home: '/users/me', platform: 'linux' });
    expect(config?.servers['a']).toMatchObject({ args: [workspace] });
  });
});

const word = fc.constantFrom(
  'a',
  'b-c',
  'x y',
  '${TOKEN}',
  '${NOPE}',
  'https://e.com/mcp',
  'wss://e.com',
  '',
  'stdio',
  'eager',
);
const scalar = fc.oneof(word, fc.integer({ min: -2, max: 99_999 }), fc.boolean(), fc.constant(null));
const names = [
  'command',
  'args',
  'env',
  'url',
  'serverUrl',
  'httpUrl',
  'headers',
  'type',
  'transport',
  'share',
  'start',
  'cwd',
  'timeoutMs',
  'timeout',
  'idleMs',
  'disabled',
  'description',
  'log',
  'level',
  'port',
  'host',
  'stdio',
  'tls',
  'key',
];
const anyKey = fc.constantFrom(...TOP_KEYS, ...names, 'one', 'my server', 'o__o');
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(anyKey, tie('tree'), { maxKeys: 5 }),
  ),
}));

/** Mostly valid ones. */
const server = fc.oneof(
  fc.constantFrom('https://e.com/mcp', 'wss://e.com'),
  fc.record(
    {
      command: fc.constantFrom('npx', './run'),
      args: fc.array(word, { maxLength: 2 }),
      env: fc.dictionary(fc.constantFrom('A', 'B'), fc.oneof(word, fc.integer())),
      cwd: fc.constantFrom('.', '/abs', '../up'),
      type: fc.constant('stdio'),
      share: fc.constantFrom('auto', 'session'),
      timeout: fc.constantFrom(5, 5000),
      disabled: fc.boolean(),
    },
    { requiredKeys: ['command'] },
  ),
  fc.record(
    {
      url: fc.constantFrom('https://e.com/mcp', 'https://e.com/${TOKEN}'),
      headers: fc.dictionary(fc.constantFrom('A', 'B'), word),
      transport: fc.constantFrom('http', 'sse', 'streamableHttp', 'ws', 'http+sse'),
      start: fc.constantFrom('lazy', 'eager'),
    },
    { requiredKeys: ['url'] },
  ),
);
const config = fc.record(
  {
    mcpServers: fc.dictionary(fc.constantFrom('one', 'two', 'my server', 'a.b/c'), server),
    listen: fc.oneof(
      fc.integer({ min: 0, max: 65_535 }),
      fc.record({ port: fc.constant(1), stdio: fc.boolean() }, { requiredKeys: [] }),
    ),
    names: fc.constantFrom('always', 'on-collision'),
    steps: fc.array(fc.constantFrom('log', './a.ts', { filter: { deny: ['*'] } }, { './b.js': null })),
    limits: fc.record({ maxDepth: fc.integer({ min: 1 }) }, { requiredKeys: [] }),
    keys: fc.constantFrom('0123456789abcdef', ['0123456789abcdef']),
    log: fc.constantFrom('info', { level: 'debug' }),
  },
  { requiredKeys: ['mcpServers'] },
);

describe('whatever stands in a file', () => {
  it('gives problems, never an exception', () => {
    fc.assert(
      fc.property(fc.dictionary(anyKey, tree), fc.constantFrom('parley.config.json', 'mcp.json'), (value, name) => {
        const { config, problems } = readConfig({ path: join(root, name), text: JSON.stringify(value) }, around);
        expect(config === undefined).toBe(problems.some(({ level }) => level === 'error'));
        for (const { message, hint, line } of problems) expect([message, hint, line].every(Boolean)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('has a normal form that is its own normal form', () => {
    let good = 0;
    fc.assert(
      fc.property(config, (value) => {
        const { config } = readConfig({ path: join(root, 'parley.config.json'), text: JSON.stringify(value) }, around);
        if (config === undefined) return;
        good += 1;
        const again = normalizeConfig(config as unknown as ConfigInput, '/elsewhere');
        expect(again).toEqual(config);
        expect(printConfig(config, new Map([['abcdefgh', '${TOKEN}']]))).not.toContain('abcdefgh');
        expect(JSON.parse(printConfig(config))).toBeTypeOf('object');
      }),
      { numRuns: 200 },
    );
    expect(good).toBeGreaterThan(40);
  });
});

it.each([
  ['defaults within defaults', '${A:-'.repeat(20_000) + '}'.repeat(20_000)],
  ['defaults that are never closed', '${A:-'.repeat(20_000)],
])('says what is wrong with 20,000 %s, and does not end', (_, text) => {
  const config = JSON.stringify({ mcpServers: { a: { command: 'x', args: [text] } } });
  const options = { env: {}, cwd: '/project', home: '/users/me', read: () => config };
  const { problems } = readConfig({ path: '/project/parley.config.json', text: config }, options);
  expect(problems.length).toBeLessThanOrEqual(1);
  if (text.endsWith('}')) expect(problems[0]!.message).toContain('nested too deeply');
});
