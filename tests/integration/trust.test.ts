// A file is not trusted just because it is in the folder: what a cloned folder does to a user who runs Parley in it, and to one who runs `git pull`
// while a gateway runs.
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connect } from 'mcp-parley';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();

/** A user who vouches for nothing. */
const PLAIN = { PARLEY_TRUST: '' };

/** A cloned folder, and what its code leaves behind if it runs. */
function clone() {
  const home = newHome();
  const marks = join(home.path, 'marks');
  mkdirSync(marks);
  const touch = (name: string) => `require('node:fs').writeFileSync(${JSON.stringify(join(marks, name))}, '')`;
  return {
    home,
    marks,
    evil: { command: process.execPath, args: ['-e', touch('command')] },
    /** The text of a step that leaves a mark and does nothing else. */
    step: (name: string) =>
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(join(marks, name))}, ''); export default (exchange, next) => next();`,
    ran: (name: string) => existsSync(join(marks, name)),
    run: (args: string[], input = '') => home.run(args, input, PLAIN),
    start: (args: string[]) => start(home, args, PLAIN),
  };
}

const COMMANDS = [
  ['ls'],
  ['ls', '--config', 'parley.config.json'],
  ['call', 'x'],
  ['read', 'x://y'],
  ['prompt', 'x'],
  ['status', 'parley.config.json'],
  ['serve', '--port', '0'],
  ['serve', '--stdio'],
  ['serve', '.', '--port', '0'],
  ['login', 'x'],
];

describe('a cloned folder', () => {
  test.each(COMMANDS.map((words) => [words.join(' '), words] as const))(
    'starts nothing and imports nothing with "%s", which says what to type',
    async (_, words) => {
      const { home, evil, step, ran, run } = clone();
      home.write('step.mjs', step('step'));
      home.write('parley.config.json', {
        mcpServers: { x: evil, url: { url: 'http://127.0.0.1:9/mcp' } },
        steps: ['./step.mjs'],
      });
      const { status, stderr } = await run([...words]);
      expect(status).toBe(1);
      expect(stderr).toContain('is not trusted yet');
      expect(stderr).toContain('parley trust parley.config.json');
      expect([ran('command'), ran('step')]).toEqual([false, false]);
    },
  );

  test('is only parsed by check, unless steps are asked for', async () => {
    const { home, step, ran, run } = clone();
    home.write('step.mjs', step('step'));
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: ['./step.mjs'] });
    expect((await run(['check'])).status).toBe(0);
    expect((await run(['check', '--print'])).status).toBe(0);
    expect((await run(['check', '--json'])).status).toBe(0);
    home.write('broken.json', { mcpServers: { x: { command: 5 } }, steps: ['./step.mjs'] });
    expect((await run(['serve', 'broken.json'])).status).toBe(1);
    expect(ran('step')).toBe(false);
    expect((await run(['check', '--run-steps'])).status).toBe(0);
    expect(ran('step')).toBe(true);
  });

  test('gets no variable out of the machine', async () => {
    const asked: string[] = [];
    const stranger = createServer((request, response) => {
      asked.push(request.url!);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { home, run } = clone();
    const { port } = stranger.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/\${PATH}`;
    home.write('parley.config.json', { mcpServers: { x: { url } }, flows: { store: `redis://127.0.0.1:${port}` } });
    for (const words of [['ls'], ['check'], ['status', 'parley.config.json'], ['login', 'x'], ['flows', 'ls']])
      await run(words);
    expect(asked).toEqual([]);
    const { stdout } = await run(['trust', '--yes']);
    expect(stdout).toContain('${PATH}');
    expect(stdout).not.toContain(process.env['PATH']);
    await run(['ls']);
    expect(asked.length).toBeGreaterThan(0);
    stranger.close();
  });

  test('cannot pose as the user’s own file by links', async () => {
    const { home, evil, ran, run } = clone();
    const own = join(home.path, 'config', 'parley');
    mkdirSync(own, { recursive: true });
    mkdirSync(join(home.path, 'project'));
    home.write('evil.json', { mcpServers: { x: evil } });
    writeFileSync(join(own, 'kept.json'), JSON.stringify({ mcpServers: { weather: WEATHER } }));
    symlinkSync(own, join(home.path, 'project', 'config'));
    symlinkSync(join(own, 'kept.json'), join(home.path, 'project', 'parley.config.json'));
    for (const file of ['evil.json', 'project/config/kept.json', 'project', 'config/parley/../../evil.json'])
      expect([file, (await run(['ls', '--config', file])).status]).toEqual([file, 1]);
    expect(ran('command')).toBe(false);
    expect((await run(['ls', '--config', 'config/parley/kept.json'])).status).toBe(0);
  });

  test('cannot pose as a file of a client by the folder that it is in', async () => {
    const { home, evil, ran, run } = clone();
    const folders = ['.none', '.none/.cursor', '.cursor/worktrees/repo', '.gemini/extensions/x', '.vscode'];
    for (const folder of folders) {
      mkdirSync(join(home.path, folder), { recursive: true });
      home.write(`${folder}/parley.config.json`, { mcpServers: { x: evil } });
      expect([folder, (await run(['ls', '--config', folder])).status]).toEqual([folder, 1]);
    }
    home.write('.none/.cursor/mcp.json', { mcpServers: { x: evil } });
    expect((await run(['ls', '--config', '.none/.cursor/mcp.json'])).status).toBe(1);
    expect(ran('command')).toBe(false);
  });

  test('cannot exhaust the memory by files without an end', async () => {
    const { home, run } = clone();
    symlinkSync('/dev/zero', join(home.path, 'zero.mjs'));
    const entries = [
      { mcpServers: { x: { ...WEATHER, args: ['${file:/dev/zero}'] } } },
      { mcpServers: { x: { ...WEATHER, envFile: '/dev/zero' } } },
    ];
    for (const entry of entries) {
      home.write('parley.config.json', entry);
      expect(await run(['check'])).toMatchObject({ status: 1, stdout: expect.stringContaining('/dev/zero') as string });
    }
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: ['./zero.mjs'] });
    expect((await run(['ls'])).stderr).toContain('is not trusted yet');
    symlinkSync('/dev/zero', join(home.path, 'zero.json'));
    expect((await run(['check', 'zero.json'])).stdout).toContain('too large');
  });

  test('does not have the value of a variable printed in an error', async () => {
    const { home } = clone();
    const secrets = { ...PLAIN, SECRETV: 'hunter2-hunter2' };
    const entries = [
      { steps: ['${SECRETV}'] },
      { steps: ['./${SECRETV}.mjs'] },
      { groups: { g: ['${SECRETV}'] } },
      { steps: [{ redact: { patterns: ['(${SECRETV}'] } }] },
    ];
    for (const entry of entries) {
      home.write('parley.config.json', { mcpServers: { weather: WEATHER }, ...entry });
      const { status, stdout, stderr } = await home.run(['check'], '', secrets);
      expect(status).toBe(1);
      expect(stdout + stderr).not.toContain('hunter2');
    }
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: ['${SECRETV}'] });
    expect((await home.run(['check'], '', secrets)).stdout).toContain('no step is called "${SECRETV}"');
  });
});

describe('parley trust', () => {
  test('shows what the file does, remembers it for this user alone, and lists and forgets it', async () => {
    const { home, run } = clone();
    home.write('lib.mjs', 'export const one = 1;');
    home.write('step.mjs', `import './lib.mjs'; export default (exchange, next) => next();`);
    home.write('.env', 'A=1');
    const config = { mcpServers: { weather: { ...WEATHER, envFile: '.env' } }, steps: ['./step.mjs'] };
    home.write('parley.config.json', config);
    const refused = await run(['trust']);
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('--yes') as string });
    const { status, stdout } = await run(['trust', '--yes']);
    expect(status).toBe(0);
    for (const words of [`weather: ${process.execPath}`, 'external-server.mjs', '.env', 'step.mjs', 'lib.mjs'])
      expect(stdout).toContain(words);
    expect(statSync(join(home.path, 'state', 'parley', 'trusted.json')).mode & 0o777).toBe(0o600);
    expect((await run(['ls'])).status).toBe(0);
    expect((await run(['trust', 'ls'])).stdout).toContain('parley.config.json');
    expect((await run(['trust', 'rm', 'parley.config.json'])).status).toBe(0);
    expect((await run(['ls'])).status).toBe(1);
  });

  test('ends with every change of the file, an env file, a step, and what a step imports', async () => {
    const { home, run } = clone();
    const files: Record<string, [string, string]> = {
      'deep/lib.mjs': ['export const a = 1;', 'export const a = 2;'],
      'lib.mjs': [`export * from './deep/lib.mjs';`, `export * from './deep/lib.mjs'; // changed`],
      'step.mjs': [
        `import { a } from './lib'; export default (exchange, next) => next();`,
        `import { a } from './lib'; export default (exchange, next) => (next());`,
      ],
      '.env': ['A=1', 'NODE_OPTIONS=--require=./evil.js'],
      'parley.config.json': [
        JSON.stringify({ mcpServers: { weather: { ...WEATHER, envFile: '.env' } }, steps: ['./step.mjs'] }),
        JSON.stringify({
          mcpServers: { weather: { ...WEATHER, envFile: '.env', env: { B: '1' } } },
          steps: ['./step.mjs'],
        }),
      ],
    };
    mkdirSync(join(home.path, 'deep'));
    for (const [name, [text]] of Object.entries(files)) home.write(name, text);
    await run(['trust', '--yes']);
    expect((await run(['ls'])).status).toBe(0);
    for (const [name, [text, other]] of Object.entries(files)) {
      home.write(name, other);
      const { status, stderr } = await run(['ls']);
      expect([name, status]).toEqual([name, 1]);
      expect(stderr).toContain('has changed since you trusted it');
      home.write(name, text);
    }
    // An import that finds another file than before.
    home.write('lib.js', 'export const a = 3;');
    expect((await run(['ls'])).status).toBe(1);
  });

  test('ends when an import finds other code than before, however it is written', async () => {
    const { home, run } = clone();
    for (const folder of ['lib', 'main', 'real']) mkdirSync(join(home.path, folder));
    home.write('step.cjs', `require('./lib'); require('./main'); module.exports = (exchange, next) => next();`);
    home.write('lib/index.js', `require/* */('../b.cjs'); const load = require; load('../c.cjs');`);
    home.write('main/package.json', { main: 'first' });
    home.write('main/first.js', `require('../linked.cjs');`);
    home.write('real/linked.cjs', `require('./near.cjs');`);
    symlinkSync(join(home.path, 'real', 'linked.cjs'), join(home.path, 'linked.cjs'));
    const imported = ['b.cjs', 'c.cjs', 'real/near.cjs'];
    for (const name of imported) home.write(name, '');
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: ['./step.cjs'] });
    await run(['trust', '--yes']);
    expect((await run(['ls'])).status).toBe(0);
    for (const name of [...imported, 'main/first.js']) {
      const text = readFileSync(join(home.path, name), 'utf8');
      home.write(name, `${text}// changed`);
      expect([name, (await run(['ls'])).status]).toEqual([name, 1]);
      home.write(name, text);
    }
    expect((await run(['ls'])).status).toBe(0);
    home.write('lib/evil.cjs', '');
    home.write('lib/package.json', { main: './evil.cjs' });
    expect((await run(['ls'])).status).toBe(1);
  });

  test('is refused for more code than is compared', async () => {
    const { home, run } = clone();
    const names = Array.from({ length: 1001 }, (_, index) => `./many/${index}.mjs`);
    mkdirSync(join(home.path, 'many'));
    for (const name of names) home.write(name, '');
    const imports = names.map((name) => `import '${name}';`).join('\n');
    home.write('step.mjs', `${imports}\nexport default (exchange, next) => next();`);
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: ['./step.mjs'] });
    for (const words of [['trust', '--yes'], ['ls']]) {
      const { status, stderr } = await run(words);
      expect(status).toBe(1);
      expect(stderr).toContain('more than 1000 files');
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  });

  test('is not taken from a list that others could have written', async () => {
    const { home, run } = clone();
    home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
    await run(['trust', '--yes']);
    const list = join(home.path, 'state', 'parley', 'trusted.json');
    const elsewhere = home.write('list.json', readFileSync(list, 'utf8'));
    renameSync(list, `${list}.old`);
    symlinkSync(elsewhere, list);
    expect((await run(['ls'])).status).toBe(1);
  });

  test('is not needed for the user’s own files, nor for those that the caller vouches for', async () => {
    const { home, run } = clone();
    const own = join(home.path, 'config', 'parley');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'parley.config.json'), JSON.stringify({ mcpServers: { weather: WEATHER } }));
    expect((await run(['ls'])).status).toBe(0);
    mkdirSync(join(home.path, '.cursor'));
    home.write('.cursor/mcp.json', { mcpServers: { weather: WEATHER } });
    expect((await run(['ls', '--config', '.cursor/mcp.json'])).status).toBe(0);
    home.write('here.json', { mcpServers: { weather: WEATHER } });
    expect((await run(['ls', '--config', 'here.json'])).status).toBe(1);
    expect((await home.run(['ls', '--config', 'here.json'])).status).toBe(0);
  });
});

describe('a running gateway', () => {
  test('keeps what runs and starts nothing new when the file changes, until it is trusted again', async () => {
    const { home, evil, ran, run, start: begin } = clone();
    home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
    await run(['trust', '--yes']);
    const gateway = begin(['serve', '--port', '0', '--open']);
    const client = await connect(await gateway.url());
    const before = await client.listTools();
    home.write('parley.config.json', { mcpServers: { weather: WEATHER, x: { ...evil, start: 'eager' } } });
    await gateway.says('has changed since you trusted it');
    await gateway.says('parley trust parley.config.json');
    expect(ran('command')).toBe(false);
    expect(await client.listTools()).toEqual(before);
    await run(['trust', '--yes']);
    await until('the trusted command to run', () => ran('command'));
    await client.close();
  });

  test('does not load a changed step, nor a changed import of it, until it is trusted again', async () => {
    const { home, step, ran, run, start: begin } = clone();
    home.write('lib.mjs', 'export const a = 1;');
    home.write('step.mjs', `import './lib.mjs';\n${step('first')}`);
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: ['./step.mjs'] });
    await run(['trust', '--yes']);
    const gateway = begin(['serve', '--port', '0', '--open', '--log', 'info']);
    await gateway.url();
    expect(ran('first')).toBe(true);
    home.write('lib.mjs', step('second'));
    await until('the refusal', () => gateway.logged('step.untrusted').length > 0);
    expect(ran('second')).toBe(false);
    await run(['trust', '--yes']);
    await until('the trusted step to be loaded', () => ran('second'));
  });

  test('follows the user’s own file as before', async () => {
    const { home, start: begin } = clone();
    const own = join(home.path, 'config', 'parley');
    mkdirSync(own, { recursive: true });
    const file = join(own, 'parley.config.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { weather: WEATHER } }));
    const gateway = begin(['serve', '--port', '0', '--open']);
    await gateway.url();
    writeFileSync(file, JSON.stringify({ mcpServers: { weather: WEATHER, second: WEATHER } }));
    await gateway.says('started second');
  });
});

test.each([
  ['steps', { steps: [{ filter: { deny: ['*get_weather'] } }] }],
  ['rules', { rules: [{ tool: '*get_weather', effect: 'deny' }] }],
])('the %s of the user’s own file hold in a folder that has its own', async (_, mine) => {
  const { home, run, start: begin } = clone();
  const own = join(home.path, 'config', 'parley');
  mkdirSync(own, { recursive: true });
  const rules = { mcpServers: {}, ...mine };
  writeFileSync(join(own, 'parley.config.json'), JSON.stringify(rules));
  home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: [{ filter: { allow: ['*'] } }] });
  await run(['trust', '--yes']);
  expect((await run(['ls', 'tools'])).stdout).not.toContain('get_weather');
  const gateway = begin(['serve', '--port', '0', '--open']);
  const client = await connect(await gateway.url());
  expect(await client.listTools()).toEqual([]);
  home.write('parley.config.json', { mcpServers: { weather: WEATHER, second: WEATHER }, steps: [] });
  await run(['trust', '--yes']);
  await gateway.says('started second');
  expect(await client.listTools()).toEqual([]);
  await client.close();
  writeFileSync(join(own, 'parley.config.json'), '{ "steps": ');
  expect(await run(['ls', '--config', 'parley.config.json'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('your own rules') as string,
  });
});

test('the file and its env files are judged as they were read, however often they are swapped', async () => {
  const { home, evil, ran, run } = clone();
  const good = JSON.stringify({ mcpServers: { weather: WEATHER } });
  const bad = JSON.stringify({ mcpServers: { x: evil } });
  home.write('parley.config.json', good);
  await run(['trust', '--yes']);
  const running = new AbortController();
  const swapping = (async () => {
    for (let round = 0; !running.signal.aborted && round < 100_000; round++) {
      writeFileSync(join(home.path, 'next'), round % 2 === 0 ? bad : good);
      renameSync(join(home.path, 'next'), join(home.path, 'parley.config.json'));
      await new Promise(setImmediate);
    }
  })();
  const runs = await Promise.all(Array.from({ length: 6 }, () => run(['ls'])));
  running.abort();
  await swapping;
  expect(runs.every(({ status }) => status === 0 || status === 1)).toBe(true);
  expect(ran('command')).toBe(false);
});
