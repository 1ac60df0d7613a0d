// The files that start Parley for others: what the Dockerfile does is played in a folder, and the command of every service file is one that Parley takes.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readArgs } from '../../src/cli/args/args.ts';
import { ROOT } from '../helpers/files.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const example = (name: string): string => readFileSync(join(ROOT, 'examples', name), 'utf8');

/** A pattern of COPY: a copy of nothing is an error, and a pattern with brackets that fits nothing is not, next to a file that is there. */
function matches(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.replaceAll('.', String.raw`\.`).replace('*', '.*')}$`).test(name);
}

type Instruction = [name: string, text: string];

/** Each instruction with what follows it. */
function instructionsOf(dockerfile: string): Instruction[] {
  const lines = dockerfile.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => [/^[A-Z]+/.exec(line)![0], line.replace(/^[A-Z]+\s+/, '')]);
}

const docker = instructionsOf(example('service/Dockerfile'));
const allOf = (name: string): string[] => docker.filter(([one]) => one === name).map(([, text]) => text);
const wordsOf = (text: string): string[] => JSON.parse(text) as string[];

describe('the Dockerfile', () => {
  test('the Dockerfile has each instruction in an order that works, and nothing runs as root', () => {
    expect(docker.map(([name]) => name)).toEqual([
      'FROM',
      'COPY',
      'RUN',
      'USER',
      'ENV',
      'EXPOSE',
      'HEALTHCHECK',
      'CMD',
    ]);
    const [from] = allOf('FROM');
    const [major] = /\d+/.exec(from!)!;
    expect(Number(major)).toBeGreaterThanOrEqual(20);
    expect(allOf('USER')).toEqual(['parley']);
    expect(allOf('RUN')[0]).toMatch(/useradd parley && install -d -o parley \/var\/lib\/parley/);
  });

  test('the Dockerfile copies files that are there, for compose as well, and takes the file of npm pack only if there is one', () => {
    const [copy] = allOf('COPY');
    const [config, packed] = copy!.split(' ') as [string, string];
    for (const folder of ['service', 'compose']) {
      expect(existsSync(join(ROOT, 'examples', folder, config))).toBe(true);
      expect(readdirSync(join(ROOT, 'examples', folder)).filter((name) => matches(packed, name))).toEqual([]);
    }
    const home = newHome();
    const installs = (): string => {
      const line = allOf('RUN')[0]!
        .split(' && ')[0]!
        .replace('npm install -g', 'echo')
        .replaceAll('/etc/parley', home.path);
      return spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8' }).stdout.trim();
    };
    expect(installs()).toBe('mcp-parley');
    home.write('mcp-parley-0.1.0.tgz', '');
    expect(matches(packed, 'mcp-parley-0.1.0.tgz')).toBe(true);
    expect(installs()).toBe(join(home.path, 'mcp-parley-0.1.0.tgz'));
  });

  test('what the Dockerfile starts is healthy by its own health check, and asks for a key that was made before', async () => {
    const home = newHome();
    const [etc, state] = [join(home.path, 'etc'), join(home.path, 'var')] as [string, string];
    mkdirSync(etc);
    mkdirSync(state);
    const there = (text: string): string => text.replaceAll('/etc/parley', etc).replaceAll('/var/lib/parley', state);
    writeFileSync(join(etc, 'parley.config.jsonc'), example('service/parley.config.jsonc'));
    const env = {
      ...Object.fromEntries(
        there(allOf('ENV')[0]!)
          .split(' ')
          .map((pair) => pair.split('=') as [string, string]),
      ),
      GITHUB_TOKEN: 'not-a-real-one',
    };
    const [program, ...words] = wordsOf(there(allOf('CMD')[0]!));
    expect(program).toBe('mcp-parley');
    const added = await home.run(['key', 'add', 'laptop'], '', env);
    expect(added.status).toBe(0);
    const gateway = start(home, [...words, '--port', '0'], env);
    const { port } = new URL(await gateway.url());
    const check = allOf('HEALTHCHECK')[0]!;
    expect(check).toContain(`127.0.0.1:${allOf('EXPOSE')[0]!}/`);
    const line = check.replace(/^CMD node /, `'${process.execPath}' `).replace(`:${allOf('EXPOSE')[0]!}/`, `:${port}/`);
    await until('the health check to pass', () => spawnSync('/bin/sh', ['-c', line]).status === 0);
    expect(spawnSync('/bin/sh', ['-c', line.replace(`:${port}/`, ':9/')]).status).toBe(1);
    const refused = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', body: '{}' });
    expect(refused.status).toBe(401);
  });

  test('compose builds that Dockerfile with its own configuration, and starts a command that Parley takes', () => {
    const { services } = parse(example('compose/compose.yaml'), { merge: true }) as {
      services: Record<string, { build: { dockerfile: string }; entrypoint: string[] }>;
    };
    const { build, entrypoint } = services['one']!;
    expect(existsSync(join(ROOT, 'examples', 'compose', build.dockerfile))).toBe(true);
    const [, words] = /exec mcp-parley (.*)$/.exec(entrypoint.at(-1)!)!;
    expect(readArgs(words!.split(' '))).toMatchObject({ name: 'serve', config: '/etc/parley/parley.config.jsonc' });
  });
});

/** The elements of an XML file that hold text alone, in order. Throws if it is not well-formed. */
function textsOf(xml: string): [name: string, text: string][] {
  const open: string[] = [];
  const texts: [string, string][] = [];
  let rest = xml
    .replace(/^<\?xml[^>]*\?>/, '')
    .replace(/<!DOCTYPE[^>]*>/, '')
    .replaceAll(/<!--.*?-->/gs, '');
  for (const [whole, isEnd, name = '', isEmpty, text = ''] of rest.matchAll(/<(\/?)([\w-]+)[^<>]*?(\/?)>([^<]*)/g)) {
    rest = rest.replace(whole, '');
    if (isEnd) expect(open.pop()).toBe(name);
    else if (!isEmpty) open.push(name);
    if (!isEnd && text.trim() !== '') texts.push([name, text]);
  }
  expect([open, rest.trim()]).toEqual([[], '']);
  return texts;
}

describe('service files', () => {
  const takes = (words: string[]): void =>
    expect(readArgs(words)).toMatchObject({ name: 'serve', config: expect.stringMatching(/parley\.config\.jsonc$/) });

  test('the unit of systemd has sections and keys, and a command that Parley takes', () => {
    const sections: Record<string, Record<string, string>> = {};
    let section = '';
    for (const line of example('service/parley.service').split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const [, opened] = /^\[(\w+)\]$/.exec(line) ?? [];
      const [, key, value] = /^(\w+)=(.+)$/.exec(line) ?? [];
      expect(opened ?? key).toBeDefined();
      if (opened) sections[(section = opened)] = {};
      else sections[section]![key!] = value!;
    }
    expect(Object.keys(sections)).toEqual(['Unit', 'Service', 'Install']);
    const [program, ...words] = sections['Service']!['ExecStart']!.split(' ');
    expect(basename(program!)).toBe('mcp-parley');
    takes(words);
    expect(Number(sections['Service']!['TimeoutStopSec'])).toBeGreaterThan(10);
  });

  test('the file for launchd has a command that Parley takes', () => {
    const texts = textsOf(example('service/com.mcp-parley.gateway.plist')).map(([, text]) => text);
    const at = texts.findIndex((text) => text.endsWith('/mcp-parley'));
    takes(texts.slice(at + 1, texts.indexOf('EnvironmentVariables')));
  });

  test('the task for Windows starts with the machine, is started again, has no end, and a command that Parley takes', () => {
    const values = Object.fromEntries(textsOf(example('service/parley-task.xml')));
    expect(values).toMatchObject({ ExecutionTimeLimit: 'PT0S', Interval: 'PT1M', Count: '99' });
    expect(example('service/parley-task.xml')).toContain('<BootTrigger>');
    const [, main, rest] = /^"(.+)" (.*)$/.exec(values['Arguments']!)!;
    expect(main!.endsWith(String.raw`mcp-parley\dist\cli\main.js`)).toBe(true);
    takes(rest!.split(' '));
  });

  test('the plugin of Claude Code has a name, the version of this package, and a command that Parley takes', () => {
    const { name, version } = JSON.parse(example('claude-code-plugin/.claude-plugin/plugin.json')) as Record<
      string,
      string
    >;
    const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect({ name, version }).toEqual({ name: 'parley', version: own.version });
    const { mcpServers } = JSON.parse(example('claude-code-plugin/.mcp.json')) as {
      mcpServers: { parley: { command: string; args: string[] } };
    };
    const { command, args } = mcpServers.parley;
    expect([command, ...args.slice(0, 2)]).toEqual(['npx', '-y', 'mcp-parley']);
    expect(readArgs(args.slice(2))).toMatchObject({ name: 'serve', stdio: true });
  });
});
