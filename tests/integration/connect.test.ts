// `parley connect` and `parley connect --undo` with the files of eleven clients, and what may go wrong: twice, two at once, killed in the middle, files that
// have changed since, links and modes. What clients then start is called in tests/peers/borders/newcomer.test.ts.
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bytesOf, clientFiles, writeFiles } from '../helpers/client-homes.ts';
import type { EightServers } from '../helpers/client-homes.ts';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';

const { newHome, start } = homesOfTests();

/** Eight that differ; the newcomer of tests/peers has real ones. */
function servers(): EightServers {
  const names = ['everything', 'files', 'memory', 'thinking', 'github', 'notion', 'playwright', 'context7'] as const;
  return Object.fromEntries(
    names.map((name) => [name, { ...WEATHER, args: [...WEATHER.args, `--${name}`] }]),
  ) as EightServers;
}

const ownConfig = (home: Home) => join(home.path, 'config', 'parley', 'parley.config.jsonc');
const oneClient = { '.cursor/mcp.json': JSON.stringify({ mcpServers: { weather: WEATHER } }) };

describe('parley connect', () => {
  it('the files of eleven clients name Parley after one command, and undo gives every one its bytes back', async () => {
    const home = newHome();
    const files = clientFiles(servers());
    const names = Object.keys(files);
    writeFiles(home, files);
    const before = bytesOf(home, names);

    const dry = await home.run(['connect', '--dry-run']);
    expect(dry).toMatchObject({ status: 0 });
    expect(dry.stdout).toMatch(/^\+.*parley\.config\.jsonc/m);
    expect(bytesOf(home, names)).toEqual(before);

    const asked = await home.run(['connect']);
    expect([asked.status, asked.stderr]).toEqual([1, expect.stringContaining('--yes')]);
    expect(bytesOf(home, names)).toEqual(before);

    const done = await home.run(['connect', '--yes']);
    expect(done).toMatchObject({ status: 0 });
    expect(done.stdout.match(/starts Parley now/g)).toHaveLength(11);
    expect(bytesOf(home, names).every((bytes, index) => bytes !== before[index])).toBe(true);
    expect(statSync(ownConfig(home)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(home.path, '.gemini/settings.json'), 'utf8'))).toMatchObject({
      mcp: { allowed: ['notion', 'parley'] },
    });

    const again = await home.run(['connect', '--yes']);
    expect([again.status, again.stdout]).toEqual([0, expect.stringContaining('Nothing to do')]);

    const undone = await home.run(['connect', '--undo']);
    expect(undone).toMatchObject({ status: 0 });
    expect(bytesOf(home, names)).toEqual(before);
    expect(existsSync(ownConfig(home))).toBe(false);
    const nothing = await home.run(['connect', '--undo']);
    expect([nothing.status, nothing.stdout]).toEqual([0, expect.stringContaining('nothing to take back')]);
  }, 120_000);

  it('two at once do it once, and undo gives the bytes back', async () => {
    const home = newHome();
    const files = clientFiles(servers());
    writeFiles(home, files);
    const before = bytesOf(home, Object.keys(files));
    const both = await Promise.all([home.run(['connect', '--yes']), home.run(['connect', '--yes'])]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(await home.run(['connect', '--undo'])).toMatchObject({ status: 0 });
    expect(bytesOf(home, Object.keys(files))).toEqual(before);
    expect(existsSync(ownConfig(home))).toBe(false);
  }, 60_000);

  it.each([
    ['the ledger is written', 'state/parley/connect/ledger.json'],
    ['the own configuration is written', 'config/parley/parley.config.jsonc'],
    ['the first file is written', '.claude.json'],
    ['the last file is written', '.cline/data/settings/cline_mcp_settings.json'],
  ])(
    'killed when %s, it is taken back or done by the next run',
    async (_, watched) => {
      for (const next of [[], ['connect', '--yes']]) {
        const home = newHome();
        const files = clientFiles(servers());
        const names = Object.keys(files);
        writeFiles(home, files);
        const before = bytesOf(home, names);
        const path = join(home.path, watched);
        const seen = existsSync(path) ? statSync(path).ino : undefined;
        const running = start(home, ['connect', '--yes']);
        while (running.child.exitCode === null) {
          if (existsSync(path) && statSync(path).ino !== seen) break;
          await new Promise((resolve) => setImmediate(resolve));
        }
        running.child.kill('SIGKILL');
        await running.ended();
        if (next.length > 0) expect(await home.run(next)).toMatchObject({ status: 0 });
        expect(await home.run(['connect', '--undo'])).toMatchObject({ status: 0 });
        expect(bytesOf(home, names)).toEqual(before);
        expect(existsSync(ownConfig(home))).toBe(false);
        const left = names
          .flatMap((name) => readdirSync(dirname(join(home.path, name))))
          .filter((name) => name.includes('parley-new'));
        expect(left).toEqual([]);
      }
    },
    60_000,
  );

  it('a file that has changed since is not taken back, and what changed is shown without its secrets', async () => {
    const home = newHome();
    writeFiles(home, oneClient);
    expect(await home.run(['connect', 'cursor', '--yes'])).toMatchObject({ status: 0 });
    const path = join(home.path, '.cursor/mcp.json');
    const connected = readFileSync(path, 'utf8');
    const changed = connected.replace(
      '"parley"',
      '"mine": { "command": "x", "env": { "KEY": "s3cret-value" } }, "parley"',
    );
    writeFileSync(path, changed);
    const refused = await home.run(['connect', '--undo']);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('has changed since');
    expect(refused.stdout).toMatch(/^\+.*"mine"/m);
    expect(refused.stdout + refused.stderr).not.toContain('s3cret');
    expect(readFileSync(path, 'utf8')).toBe(changed);
    writeFileSync(path, connected);
    expect(await home.run(['connect', '--undo'])).toMatchObject({ status: 0 });
    expect(readFileSync(path, 'utf8')).toBe(oneClient['.cursor/mcp.json']);
  });

  it('a server that was added later moves with the next run, and undo gives back the bytes before that run, and no earlier ones', async () => {
    const home = newHome();
    writeFiles(home, oneClient);
    await home.run(['connect', '--yes']);
    const path = join(home.path, '.cursor/mcp.json');
    const { mcpServers } = JSON.parse(readFileSync(path, 'utf8')) as { mcpServers: object };
    const edited = JSON.stringify({ mcpServers: { ...mcpServers, later: { command: 'later' } } });
    writeFileSync(path, edited);
    expect((await home.run(['connect', '--yes'])).stdout).toContain('1 server moved');
    expect(Object.keys((JSON.parse(readFileSync(path, 'utf8')) as { mcpServers: object }).mcpServers)).toEqual([
      'parley',
    ]);
    expect(readFileSync(ownConfig(home), 'utf8')).toMatch(/"later"[\s\S]*"weather"|"weather"[\s\S]*"later"/);
    const undone = await home.run(['connect', '--undo']);
    expect([undone.status, undone.stdout, undone.stderr]).toEqual([
      1,
      expect.stringContaining('Is as it was'),
      expect.stringContaining('has changed since'),
    ]);
    expect(readFileSync(path, 'utf8')).toBe(edited);
  });

  it('a configuration of the user’s own keeps what the user wrote in it, also after undo', async () => {
    const home = newHome();
    writeFiles(home, {
      ...oneClient,
      'config/parley/parley.config.jsonc':
        '{\n  // mine\n  "names": "on-collision",\n  "mcpServers": { "a": "http://127.0.0.1:9/mcp" }\n}\n',
    });
    const before = readFileSync(ownConfig(home), 'utf8');
    await home.run(['connect', '--yes']);
    expect(readFileSync(ownConfig(home), 'utf8')).toContain('// mine');
    expect(await home.run(['connect', '--undo'])).toMatchObject({ status: 0 });
    expect(readFileSync(ownConfig(home), 'utf8')).toBe(before);
    await home.run(['connect', '--yes']);
    const edited = readFileSync(ownConfig(home), 'utf8').replace('// mine', '// mine, and later');
    writeFileSync(ownConfig(home), edited);
    const undone = await home.run(['connect', '--undo']);
    expect([undone.status, undone.stderr]).toEqual([0, expect.stringContaining('has changes of yours')]);
    expect(readFileSync(ownConfig(home), 'utf8')).toBe(edited);
  });

  it('a file keeps its mode and stays a link, and one that is read-only is left alone', async () => {
    const home = newHome();
    writeFiles(home, {
      'dotfiles/cursor.json': oneClient['.cursor/mcp.json'],
      '.cursor/other': '',
      '.codeium/windsurf/mcp_config.json': oneClient['.cursor/mcp.json'],
    });
    const [link, target] = ['.cursor/mcp.json', 'dotfiles/cursor.json'].map((name) => join(home.path, name)) as [
      string,
      string,
    ];
    const locked = join(home.path, '.codeium/windsurf/mcp_config.json');
    symlinkSync('../dotfiles/cursor.json', link);
    chmodSync(target, 0o640);
    chmodSync(locked, 0o444);
    const { status, stderr } = await home.run(['connect', '--yes']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('read-only')]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect([statSync(target).mode & 0o777, readFileSync(target, 'utf8')]).toEqual([
      0o640,
      expect.stringContaining('"parley"'),
    ]);
    expect(readFileSync(locked, 'utf8')).toBe(oneClient['.cursor/mcp.json']);
    expect(await home.run(['connect', '--undo'])).toMatchObject({ status: 0 });
    expect([statSync(target).mode & 0o777, readFileSync(target, 'utf8')]).toEqual([
      0o640,
      oneClient['.cursor/mcp.json'],
    ]);
    rmSync(locked, { force: true });
  });

  it('one broken file does not keep the others from being connected', async () => {
    const home = newHome();
    writeFiles(home, { ...oneClient, '.codex/config.toml': '[mcp_servers.a\ncommand = 1' });
    const { status, stdout, stderr } = await home.run(['connect', '--yes']);
    expect([status, stdout, stderr]).toEqual([
      1,
      expect.stringContaining('Cursor starts Parley now'),
      expect.stringMatching(/Codex is left as it is.*line 1/),
    ]);
    expect(readFileSync(join(home.path, '.codex/config.toml'), 'utf8')).toBe('[mcp_servers.a\ncommand = 1');
  });

  it('a client that is not there, not known or no longer developed is said so', async () => {
    const home = newHome();
    expect(await home.run(['connect', 'cursor'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is not installed here') as string,
    });
    expect(await home.run(['connect', 'roo'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no longer developed') as string,
    });
    expect(await home.run(['connect', 'curser'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Did you mean "cursor"?') as string,
    });
  });
});
