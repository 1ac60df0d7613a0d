// Trust covers the code that a configuration would run: scripts that its commands start, and what steps import in any spelling. And what a
// person sees of it: on a terminal, and when something has changed.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { connect } from 'mcp-parley';
import { MAIN } from '../helpers/built.ts';
import { ROOT } from '../helpers/files.ts';
import { textOf } from '../helpers/fixture-server.ts';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import { Terminal } from '../helpers/terminal.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const PLAIN = { PARLEY_TRUST: '' };
const CHANGED = 'has changed since you trusted it';
const STEP = 'export default (exchange, next) => next();';

type Files = Record<string, string>;

function clone(files: Files, config: object) {
  const home = newHome();
  mkdirSync(join(home.path, 'in'));
  for (const [name, text] of Object.entries(files)) home.write(name, text);
  home.write('parley.config.json', config);
  const run = (...args: string[]) => home.run(args, '', PLAIN);
  const append = (name: string, text = '\n') => writeFileSync(join(home.path, name), text, { flag: 'a' });
  const isChanged = async () => (await run('ls')).stderr.includes(CHANGED);
  return { home, run, append, isChanged };
}

const node = process.execPath;
/** What a command starts, and the file whose change has to end the trust. */
const SCRIPTS: [name: string, files: Files, server: object, changed: string][] = [
  ['the script', { 'server.mjs': '' }, { command: node, args: ['server.mjs'] }, 'server.mjs'],
  [
    'an import of it',
    { 'server.mjs': `import './in/lib.mjs'`, 'in/lib.mjs': '' },
    { command: node, args: ['./server.mjs'] },
    'in/lib.mjs',
  ],
  ['a script without ending', { 'server.js': '' }, { command: node, args: ['server'] }, 'server.js'],
  ['a folder', { 'package.json': '{"main":"in/a.js"}', 'in/a.js': '' }, { command: node, args: ['.'] }, 'in/a.js'],
  [
    'a hook',
    { 'server.mjs': '', 'hook.mjs': '' },
    { command: node, args: ['--import=./hook.mjs', '-e', '0'] },
    'hook.mjs',
  ],
  [
    'a hook in a variable',
    { 'pre.cjs': '' },
    { command: node, args: ['-e', '0'], env: { NODE_OPTIONS: '--require ./pre.cjs' } },
    'pre.cjs',
  ],
  ['a shell script', { 'run.sh': 'exec node -e 0' }, { command: 'sh', args: ['./run.sh'] }, 'run.sh'],
  [
    'what a shell script starts',
    { 'run.sh': 'exec node in/b.mjs', 'in/b.mjs': '' },
    { command: 'sh', args: ['run.sh'] },
    'in/b.mjs',
  ],
  ['a line for the shell', { 'in/c.mjs': '' }, { command: 'sh', args: ['-c', 'cd . && node in/c.mjs'] }, 'in/c.mjs'],
  [
    'scripts of npm',
    { 'package.json': '{"scripts":{"start":"node -e 0"}}' },
    { command: 'npm', args: ['start'] },
    'package.json',
  ],
  [
    'a module of Python',
    { 'main.py': 'from in.helper import x', 'in/helper.py': '' },
    { command: 'python3', args: ['main.py'] },
    'in/helper.py',
  ],
  ['a script in its own folder', { 'in/d.mjs': '' }, { command: node, args: ['d.mjs'], cwd: 'in' }, 'in/d.mjs'],
];

describe('a command of a trusted file', () => {
  test.each(SCRIPTS)('ends the trust with %s', async (_, files, server, changed) => {
    const { run, append, isChanged } = clone(files, { mcpServers: { x: server } });
    const { stdout } = await run('trust', '--yes');
    expect(stdout).toContain(changed);
    expect(await isChanged()).toBe(false);
    append(changed);
    expect(await isChanged()).toBe(true);
  });

  test('is a program of the folder', async () => {
    const { home, run, append, isChanged } = clone({ run: '#!/bin/sh\n' }, { mcpServers: { x: { command: './run' } } });
    chmodSync(join(home.path, 'run'), 0o755);
    await run('trust', '--yes');
    append('run');
    expect(await isChanged()).toBe(true);
  });

  test('may write its own data', async () => {
    const files = { 'server.mjs': `open('./notes.json')`, 'notes.json': '{}', 'data.db': '' };
    const server = { command: node, args: ['server.mjs', '--db', './data.db'], env: { NOTES: './notes.json' } };
    const { run, append, isChanged } = clone(files, { mcpServers: { x: server } });
    await run('trust', '--yes');
    append('notes.json');
    append('data.db');
    expect(await isChanged()).toBe(false);
  });
});

/** A server whose script says its own name, and ends when it is told to. */
const versionOf = (name: string): string => `
import { legacy, speak, text } from ${JSON.stringify(pathToFileURL(join(ROOT, 'tests/fixtures/servers/parts/stdio.mjs')).href)};
import { word } from './in/lib.mjs';
speak((message) => {
  const { method, params } = message;
  if (method === 'tools/call' && params.name === 'die') process.exit(1);
  if (method === 'tools/call') return text('${name} ' + word);
  return legacy(message, ['who', 'die']);
});`;

describe('a server of a running gateway', () => {
  test.each<[string, Files]>([
    ['its script', { 'server.mjs': versionOf('second') }],
    ['an import of its script', { 'in/lib.mjs': `export const word = 'two';` }],
  ])('is not started again when %s has changed, until that is trusted', async (_, changed) => {
    const files = { 'server.mjs': versionOf('first'), 'in/lib.mjs': `export const word = 'one';` };
    const { home, run } = clone(files, { mcpServers: { x: { command: node, args: ['server.mjs'] } } });
    await run('trust', '--yes');
    const gateway = start(home, ['serve', '--port', '0', '--open'], PLAIN);
    await using client = await connect(await gateway.url());
    const who = () => textOf(client, 'x__who').catch(({ message }: Error) => message);
    const die = () => client.callTool('x__die').catch(() => {});
    expect(await who()).toBe('first one');
    await die();
    await until('the server to run again', async () => (await who()) === 'first one');
    for (const [name, text] of Object.entries(changed)) home.write(name, text);
    expect(await who()).toBe('first one'); // what runs is kept
    await die();
    const told = await until('a refusal', async () => {
      const words = await who();
      return words.includes('changed since') || /second|two/.test(words) ? words : undefined;
    });
    expect(told).toContain('parley trust');
    for (let n = 0; n < 3; n++) expect(await who()).not.toMatch(/second|two/);
    await using other = await connect(await gateway.url());
    expect(await textOf(other, 'x__who').catch(String)).not.toMatch(/second|two/);
    await run('trust', '--yes');
    await until('the trusted code to run', async () => /second|two/.test(await who()));
  });
});

describe('a step of a trusted file', () => {
  test.each<[string, string, string]>([
    ['#lib', `import '#lib';`, 'in/lib.mjs'],
    ['the package.json behind #lib', `import '#lib';`, 'package.json'],
    [
      'require("#lib")',
      `import { createRequire } from 'node:module'; createRequire(import.meta.url)('#lib');`,
      'in/lib.mjs',
    ],
    ['file:///', `import 'FILE/in/lib.mjs';`, 'in/lib.mjs'],
    ['file:///, computed in parts of a call', `await import(/* */ 'FILE/in/lib.mjs');`, 'in/lib.mjs'],
  ])('imports %s', async (_, text, changed) => {
    const imports = JSON.stringify({ imports: { '#lib': './in/lib.mjs' } });
    const { home, run, append, isChanged } = clone({ 'package.json': imports, 'in/lib.mjs': '' }, {});
    home.write('step.mjs', `${text.replace('FILE', pathToFileURL(home.path).href)}\n${STEP}`);
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: ['./step.mjs'] });
    await run('trust', '--yes');
    expect(await isChanged()).toBe(false);
    append(changed, ' ');
    expect(await isChanged()).toBe(true);
  });

  test('that changes between the comparison and its import serves nobody', async () => {
    const { home, run } = clone({}, { mcpServers: { weather: WEATHER }, steps: ['./step.mjs'] });
    // The trusted text itself changes the file while it is loaded, as somebody else might.
    const path = JSON.stringify(join(home.path, 'lib.mjs'));
    home.write('lib.mjs', '');
    home.write(
      'step.mjs',
      `import './lib.mjs'; import { appendFileSync } from 'node:fs'; appendFileSync(${path}, ' ');\n${STEP}`,
    );
    await run('trust', '--yes');
    const { status, stdout, stderr } = await run('ls');
    expect(status).toBe(1);
    expect(stderr).toContain('a file changed while it was loaded');
    expect(stdout).not.toContain('get_weather');
  });
});

describe('what a person sees', () => {
  test('every address that is contacted: issuers, front mode, logins, models', async () => {
    const { run } = clone(
      {},
      {
        mcpServers: {
          crm: {
            url: 'https://crm.example/mcp',
            auth: {
              grant: 'token_exchange',
              clientId: 'x',
              clientSecret: 'y',
              exchange: { tokenEndpoint: 'https://login.crm.example/token' },
            },
          },
        },
        publicUrl: 'https://mcp.example.com',
        auth: {
          front: { issuer: 'https://evil-front.example', clientId: 'x', clientSecret: 'y' },
          issuers: ['https://issuer.example'],
        },
        ask: { model: { url: 'https://model.example/v1', model: 'm', key: 'k' } },
      },
    );
    const { stdout, stderr } = await run('trust', '--yes');
    for (const host of [
      'crm.example/mcp',
      'login.crm.example',
      'evil-front.example',
      'issuer.example',
      'model.example',
    ])
      expect(stdout + stderr).toContain(host);
    const [, contacted = ''] = /  connects to\n((?: {4}.*\n)*)/.exec(stdout) ?? [];
    expect(contacted).toContain('crm.example/mcp');
    expect(contacted).not.toContain('mcp.example.com'); // it is where we are
  });

  test('what has changed since the last time', async () => {
    const before = { mcpServers: { weather: WEATHER, old: { command: 'old-program' } }, steps: ['./step.mjs'] };
    const { home, run, append } = clone({ 'step.mjs': STEP }, before);
    const first = await run('trust', '--yes');
    expect(first.stdout).not.toMatch(/^ {4}[+-] /m);
    append('step.mjs');
    home.write('parley.config.json', {
      ...before,
      mcpServers: { weather: WEATHER, evil: { url: 'https://evil.example/mcp' } },
    });
    for (const { stdout, stderr } of [await run('ls'), await run('trust')]) {
      const shown = stdout + stderr;
      expect(shown).toContain('changed: step.mjs');
      expect(shown).toContain('changed: parley.config.json');
      expect(shown).toContain('- old: old-program');
      expect(shown).toContain('+ evil: https://evil.example/mcp');
      expect(shown).not.toContain('+ weather');
    }
  });

  test.each([
    ['y\r', 0, 'get_weather'],
    ['\r', 1, 'parley trust'],
  ])('a question on a terminal, answered with %j', async (keys, status, words) => {
    const { home } = clone({}, { mcpServers: { weather: WEATHER } });
    const env = {
      PATH: process.env['PATH'],
      HOME: home.path,
      XDG_STATE_HOME: join(home.path, 'state'),
      XDG_CONFIG_HOME: join(home.path, 'config'),
    };
    await using terminal = new Terminal(`cd ${home.path} && ${node} ${MAIN} ls tools`, env);
    await terminal.sees('Trust it? [y/N]');
    expect(terminal.all).toContain('is not trusted yet');
    expect(terminal.all).toContain('external-server.mjs');
    await terminal.types(keys, words);
    expect(await terminal.status()).toBe(status);
    const isKept = () => readFileSync(join(home.path, 'state', 'parley', 'trusted.json'), 'utf8').includes('sha256:');
    if (status === 0) expect(isKept()).toBe(true);
    else expect(isKept).toThrow('ENOENT');
  });
});
