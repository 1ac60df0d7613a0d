// What servers say is never obeyed by the terminal: not their names, tools, results, errors, questions or last words.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAIN } from '../helpers/built.ts';
import { ROOT } from '../helpers/files.ts';
import { homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { Terminal } from '../helpers/terminal.ts';

const { newHome } = homesOfTests();
const SERVER = [process.execPath, join(ROOT, 'tests', 'fixtures', 'servers', 'obeyed-by-terminals.mjs')];

/** The part that a terminal would obey, except line ends and tabs. */
function obeyed(output: string): string[] {
  return output.match(/(?![\n\t])[\p{Cc}\u202a-\u202e]/gu) ?? [];
}

describe('escape sequences of a server', () => {
  it.each([
    ['ls', ['ls']],
    ['ls with JSON', ['ls', '--json']],
    ['call', ['call', 'echo']],
    ['call with JSON', ['call', 'echo', '--json']],
    ['a call that fails', ['call', 'fail']],
    ['a call that is refused', ['call', 'refuse']],
    ['a call to a tool that is not there', ['call', 'absent']],
    ['a call that asks', ['call', 'ask']],
    ['status', ['status']],
    ['the log', ['ls', 'tools', '--log', 'debug']],
  ])('are shown as text by %s', async (_, args) => {
    const { stdout, stderr } = await newHome().run([...args, '--', ...SERVER], 'y\n');
    expect({ stdout: obeyed(stdout), stderr: obeyed(stderr) }).toEqual({ stdout: [], stderr: [] });
    if (args.includes('--json')) expect(JSON.stringify(JSON.parse(stdout))).toContain('\u202Egood');
    else expect(stdout + stderr).toContain('\\u001b[2K');
  });

  it('leave lines of a result as they are, and a tool in its row', async () => {
    const home = newHome();
    const result = await home.run(['call', 'echo', '--', ...SERVER]);
    expect(result.stdout).toMatch(/one\ntwo\n$/);
    const { stdout } = await home.run(['ls', 'tools', '--', ...SERVER]);
    expect(stdout.trimEnd().split('\n')).toHaveLength(6);
  });

  it('stay in a file that a resource is written to', async () => {
    const home = newHome();
    const { stdout } = await home.run(['read', 'x:text', '--', ...SERVER]);
    expect(stdout).toContain('\u001B[2K');
  });
});

/** Without colours of our own. */
async function onTerminal(home: Home, args: string[], keys?: [wait: string, keys: string]): Promise<string> {
  const line = [process.execPath, MAIN, ...args, '--', ...SERVER].join(' ');
  const { PATH } = process.env;
  await using terminal = new Terminal(line, { PATH, HOME: home.path, XDG_STATE_HOME: home.path, NO_COLOR: '1' });
  if (keys) {
    await terminal.sees(keys[0]);
    await terminal.types(keys[1], 'answered');
  }
  await terminal.status();
  return terminal.all;
}

describe('on a terminal, escape sequences of a server', () => {
  it.each([
    ['a question', ['call', 'ask'], ['y/n: ', 'y\r'] as [string, string]],
    ['a text resource', ['read', 'x:text'], undefined],
    ['a resource of bytes', ['read', 'x:bytes'], undefined],
    ['the log', ['ls', 'tools', '--log', 'debug'], undefined],
  ])('are not obeyed in %s', async (_, args, keys) => {
    const shown = await onTerminal(newHome(), args, keys);
    expect(obeyed(shown.replaceAll('\r\n', '\n'))).toEqual([]);
    expect(shown).toMatch(args[1] === 'x:bytes' ? /\[\d+ bytes/ : /\\u001b\[2K/);
  });
});
