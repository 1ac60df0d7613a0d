// What a person who starts for the first time is told.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readArgs } from '../args/args.ts';
import { createPrinter } from '../terminal/print.ts';
import { clientFiles, suggestConfigs } from '../trust/client-files.ts';
import { programName, toLaunchCommand } from '../program.ts';
import { toWelcomeLines } from '../serving/welcome-lines.ts';
import { toWrapCommand } from '../commands/wrap/wrapped-port.ts';

const home = mkdtempSync(join(tmpdir(), 'parley-first-'));
afterAll(() => rmSync(home, { recursive: true }));
const around = { home, cwd: join(home, 'project'), env: {}, platform: 'linux' as const };

function write(name: string, content: unknown): void {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

describe('the name of the program', () => {
  it.each([
    ['/usr/local/bin/parley', 'parley'],
    ['/usr/local/bin/mcp-parley', 'mcp-parley'],
    ['/srv/app/node_modules/.bin/parley', 'npx parley'],
    ['/srv/.npm/_npx/0123/node_modules/.bin/mcp-parley', 'npx mcp-parley'],
    ['/srv/.npm/_npx/0123/node_modules/.bin/parley', 'npx mcp-parley'],
    ['/opt/parley/dist/cli/main.js', 'parley'],
  ])('started as %s is %s', (started, name) => {
    expect(programName(started)).toBe(name);
  });

  it('the name of the program in a client is the file that runs, wherever it is installed: npx would fetch another version elsewhere', () => {
    for (const main of [
      '/opt/parley/dist/cli/main.js',
      '/srv/app/node_modules/mcp-parley/dist/cli/main.js',
      '/usr/local/lib/node_modules/mcp-parley/dist/cli/main.js',
    ]) {
      expect(toLaunchCommand(['demo'], main)).toEqual({ command: 'node', args: [main, 'demo'] });
    }
  });

  it('the name of the program in a client is npx with the same package where npx runs it, whose folder does not stay', () => {
    const started = '/srv/.npm/_npx/0123/node_modules/.bin/mcp-parley';
    expect(toLaunchCommand(['demo'], started)).toEqual({ command: 'npx', args: ['-y', 'mcp-parley', 'demo'] });
    write('npm/_npx/4567/package.json', { _npx: { packages: ['mcp-parley@0.1.0'] } });
    const pinned = join(home, 'npm/_npx/4567/node_modules/.bin/parley');
    expect(toLaunchCommand(['demo'], pinned)).toEqual({ command: 'npx', args: ['-y', 'mcp-parley@0.1.0', 'demo'] });
    expect(programName(pinned)).toBe('npx mcp-parley@0.1.0');
  });
});

describe('without a configuration', () => {
  it('the files of clients are named, with their servers and what to type', () => {
    expect(suggestConfigs(around)).toEqual([
      expect.stringMatching(/^To try it without any server: \S.* demo$/),
      expect.stringMatching(/^To serve your own, write parley\.config\.jsonc here/),
    ]);
    write('.cursor/mcp.json', { mcpServers: { a: {}, b: {} } });
    write('.claude.json', {
      mcpServers: { a: {} },
      projects: { '/x': { mcpServers: { c: {} } }, [around.cwd]: { mcpServers: { d: {}, e: {} } } },
    });
    write('.config/Code/User/mcp.json', '{ // VS Code\n "servers": { "a": {}, } }');
    write('.codex/config.toml', '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.env]\nK = "v"\n');
    write('.gemini/settings.json', { theme: 'dark' });
    expect(clientFiles(around).map(({ client, shown, servers }) => `${client}: ${shown} ${servers}`)).toEqual([
      'Claude Code: ~/.claude.json 3',
      'Cursor: ~/.cursor/mcp.json 2',
      'VS Code: ~/.config/Code/User/mcp.json 1',
      'Codex: ~/.codex/config.toml 1',
    ]);
    expect(suggestConfigs(around).join('\n')).toContain('serve ~/.claude.json');
  });
});

describe('the line that starts wrap again', () => {
  const again = (...argv: string[]) => {
    const command = readArgs(['wrap', '--port', '0', ...argv]);
    if (command.name !== 'wrap') throw new Error(JSON.stringify(command));
    return toWrapCommand(command);
  };

  it('the line that starts wrap again has what was typed, but for the port', () => {
    const { words, env } = again(
      '--env',
      'LEVEL=3',
      '--revision',
      '2025-06-18',
      '--no-ask',
      '--start-timeout',
      '5',
      '--',
      'npx',
      '-y',
      'x',
    );
    const options = ['--revision', '2025-06-18', '--start-timeout', '5', '--no-ask'];
    expect(words).toEqual(['wrap', ...options, '--', 'npx', '-y', 'x']);
    expect(env).toEqual({ LEVEL: '3' });
    expect(again('--', 'x')).toEqual({ words: ['wrap', '--', 'x'], env: {} });
  });

  it('never has secrets: they become variables', () => {
    process.env['MY_TOKEN'] = 'secret-of-mine';
    const url = 'https://mcp.example.com/mcp';
    const headers = [
      '--header',
      'X-Team: blue',
      '--header',
      'Authorization: Bearer abc',
      '--header',
      'X-Key: ${MY_TOKEN}',
    ];
    const { words, env } = again(url, ...headers);
    expect(words).toEqual([
      'wrap',
      '--header',
      'X-Team: blue',
      '--header',
      'Authorization: ${AUTHORIZATION}',
      '--header',
      'X-Key: ${MY_TOKEN}',
      url,
    ]);
    expect(env).toEqual({ AUTHORIZATION: '…', MY_TOKEN: '…' });
    expect(again('--env', 'API_KEY=abc', '--', 'x').env).toEqual({ API_KEY: '…' });
    // What the words mean is what was typed.
    const command = readArgs(['wrap', '--header', 'X-Key: ${MY_TOKEN}', url]);
    expect(command).toMatchObject({ server: { headers: { 'X-Key': 'secret-of-mine' } } });
    delete process.env['MY_TOKEN'];
    const missing = readArgs(['wrap', '--header', 'X-Key: ${MY_TOKEN}', url]);
    expect(missing).toMatchObject({ name: 'mistake', reason: expect.stringContaining('MY_TOKEN is not set') });
  });
});

describe('the welcome', () => {
  it('shows the token on a terminal, and nowhere else', () => {
    const shown = (isTTY: boolean): string => {
      const print = createPrinter({ out: { isTTY, write: () => {} }, env: { NO_COLOR: '1' } });
      const options = { host: '127.0.0.1', port: 9000, isChosen: true, title: 'x', name: 'parley', about: [] };
      const lines = { ...options, print, token: 'parley_secret', program: () => ({ words: ['wrap'] }) };
      return toWelcomeLines(lines).join('\n');
    };
    expect(shown(true)).toContain('Bearer parley_secret');
    expect(shown(false)).not.toContain('parley_secret');
    expect(shown(false)).toContain('Bearer TOKEN');
    expect(shown(false)).toContain('status --lines');
  });

  it('tells each client its own form, and Claude Desktop a command', () => {
    const print = createPrinter({ out: { write: () => {} }, env: {} });
    const options = { host: '127.0.0.1', port: 9000, isChosen: true, print, title: 'x', name: 'parley', about: [] };
    const lines = toWelcomeLines({ ...options, program: (url) => ({ words: ['wrap', url] }), served: 'mcp.json' });
    const after = (head: string): string => lines[lines.findIndex((line) => line.startsWith(head)) + 1]!;
    expect(after('Claude Desktop')).toMatch(/"command": .*"wrap", ?"http:\/\/127\.0\.0\.1:9000\/mcp"/);
    expect(after('VS Code')).toContain('{"servers": {"parley": {"type": "http", "url": "http://127.0.0.1:9000/mcp"}}}');
    expect(after('Codex')).toContain('[mcp_servers.parley]');
    expect(lines.join('\n')).toContain('(not yet in mcp.json)');
    const own = {
      ...options,
      program: (url: string) => ({ words: ['wrap', url] }),
      served: 'mcp.json',
      servedOf: 'cursor',
    };
    expect(toWelcomeLines(own).join('\n')).toMatch(
      /to use Parley in its client, with these servers: \S.* connect cursor$/im,
    );
    expect(lines.join('\n')).toContain(
      `copy its servers to parley.config.jsonc,\n  run: ${programName()} serve parley.config.jsonc`,
    );
  });

  it('the welcome has names that every client takes, and a word about what is not printed', () => {
    const print = createPrinter({ out: { write: () => {} }, env: {} });
    const options = { host: '127.0.0.1', port: 9000, isChosen: true, print, title: 'x', about: [] };
    const started = { words: ['wrap', 'x'], env: { TOKEN: '…' } };
    const named = toWelcomeLines({ ...options, name: 'mcp.example.com', program: () => started }).join('\n');
    expect(named).toContain('claude mcp add --transport http mcp-example-com http');
    expect(named).toContain('"env": {"TOKEN": "…"}');
    expect(named).toContain('replace … by the value of TOKEN');
    expect(toWelcomeLines({ ...options, name: '127.0.0.1', program: () => started }).join('\n')).toContain(
      'http server http',
    );
  });
});
