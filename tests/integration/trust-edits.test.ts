// Trust belongs to a file and what it starts: it holds from every folder, an edit that only takes away applies at once, and what cannot be trusted is
// said to the client.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connect } from 'mcp-parley';
import { ROOT } from '../helpers/files.ts';
import { Home, WEATHER, homesOfTests } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const PLAIN = { PARLEY_TRUST: '' };
const SPEAK = join(ROOT, 'tests/fixtures/servers/parts/stdio.mjs');

/** A folder with a server of its own, which says where it was started. */
function folderOf(home: Home) {
  const folder = join(home.path, 'gw');
  const project = join(home.path, 'project');
  for (const one of [folder, project]) mkdirSync(one);
  const write = (name: string, content: string | object): void =>
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  const script = `import { legacy, speak } from ${JSON.stringify(SPEAK)};
    const names = process.cwd().split('/').slice(-1).concat('write', 'read');
    speak((message) => legacy(message, names));`;
  write('server.mjs', script);
  writeFileSync(join(project, 'server.mjs'), script);
  writeFileSync(join(project, 'package.json'), '{ "name": "project" }');
  const file = join(folder, 'parley.config.json');
  /** As a user who stands in another folder. */
  const runIn = async (cwd: string, ...args: string[]) => {
    using there = new Home(cwd);
    const { path } = home;
    const own = { HOME: path, XDG_STATE_HOME: join(path, 'state'), XDG_CONFIG_HOME: join(path, 'config') };
    return there.run(args, '', { ...own, ...PLAIN });
  };
  return { folder, project, write, file, runIn };
}

const SERVER = { command: process.execPath, args: ['server.mjs'] };

describe('trust in a file', () => {
  test('holds from every folder, and starts its servers in that of the file', async () => {
    const home = newHome();
    const { project, write, file, runIn } = folderOf(home);
    write('parley.config.json', {
      mcpServers: { x: SERVER, y: { command: 'npx', args: ['nothing'], disabled: true } },
    });
    expect((await runIn(project, 'trust', file, '--yes')).status).toBe(0);
    for (const cwd of [project, '/', home.path]) {
      const { stdout, stderr } = await runIn(cwd, 'ls', 'tools', '--config', file);
      expect([cwd, stderr, /^gw /m.test(stdout)]).toEqual([cwd, '', true]);
    }
    rmSync(join(project, 'package.json'));
    expect((await runIn(project, 'ls', '--config', file)).stderr).toBe('');
  });

  test('survives a deny, and does not come back when the deny goes', async () => {
    const home = newHome();
    const { folder, write, file, runIn } = folderOf(home);
    const tools = async () => runIn('/', 'ls', 'tools', '--config', file);
    write('parley.config.json', { mcpServers: { x: SERVER } });
    await runIn(folder, 'trust', file, '--yes');
    expect((await tools()).stdout).toMatch(/^write /m);
    write('parley.config.json', { mcpServers: { x: { ...SERVER, tools: { deny: ['write'] } } } });
    const denied = await tools();
    expect(denied.stdout).toMatch(/^read /m);
    expect(denied.stdout).not.toMatch(/^write /m);
    expect(denied.stderr).toContain('only takes away: it applies');
    expect((await tools()).stderr).toBe('');
    write('parley.config.json', { mcpServers: { x: SERVER } });
    const back = await tools();
    expect([back.status, back.stdout]).toEqual([1, '']);
    expect(back.stderr).toContain('has changed since you trusted it');
  });

  test('ends with an edit that takes away one thing and gives another', async () => {
    const home = newHome();
    const { folder, write, file, runIn } = folderOf(home);
    write('parley.config.json', { mcpServers: { x: SERVER } });
    await runIn(folder, 'trust', file, '--yes');
    const evil = { command: 'sh', args: ['-c', `touch ${join(home.path, 'mark')}`] };
    for (const server of [{ ...SERVER, tools: { deny: ['write'] }, env: { A: '1' } }, evil]) {
      write('parley.config.json', { mcpServers: { x: server } });
      expect((await runIn(folder, 'ls')).stderr).toContain('has changed since you trusted it');
    }
    write('parley.config.json', { mcpServers: { x: { ...SERVER, tools: { deny: ['write'] } } } });
    write('server.mjs', 'import "node:fs";');
    expect((await runIn(folder, 'ls')).stderr).toContain('has changed since you trusted it');
  });

  test('ends if the script of a server that is gone was swapped, as another one may use it', async () => {
    const home = newHome();
    const { folder, write, file, runIn } = folderOf(home);
    const both = { x: SERVER, z: WEATHER, y: { command: process.execPath, args: ['other.mjs'] } };
    write('other.mjs', '0;');
    write('parley.config.json', { mcpServers: both });
    await runIn(folder, 'trust', file, '--yes');
    write('parley.config.json', { mcpServers: { x: SERVER, z: WEATHER } });
    write('other.mjs', '1;');
    expect((await runIn(folder, 'ls')).stderr).toContain('has changed since you trusted it');
    write('other.mjs', '0;');
    expect((await runIn(folder, 'ls')).stderr).toContain('only takes away');
    const known = JSON.parse(readFileSync(join(home.path, 'state/parley/trusted.json'), 'utf8')) as {
      files: Record<string, { files: object }>;
    };
    expect(Object.keys(known.files[file]!.files)).not.toContain(join(folder, 'other.mjs'));
  });
});

describe('a running gateway of a trusted file', () => {
  test('applies a deny at once, and no new server', async () => {
    const home = newHome();
    const entry = (more: object) => ({ mcpServers: { weather: { ...WEATHER, ...more } } });
    home.write('parley.config.json', entry({}));
    await home.run(['trust', '--yes'], '', PLAIN);
    const gateway = start(home, ['serve', '--port', '0', '--open'], PLAIN);
    await using client = await connect(await gateway.url());
    const names = async (): Promise<string[]> => (await client.listTools()).map(({ name }) => name);
    expect(await names()).toContain('get_weather');
    home.write('parley.config.json', entry({ tools: { deny: ['get_weather'] } }));
    await until('the denied tool to go', async () => !(await names()).includes('get_weather'));
    home.write('parley.config.json', { mcpServers: { other: WEATHER } });
    await gateway.says('has changed since you trusted it');
    expect(await names()).not.toContain('get_weather');
  });
});

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

describe('serve --stdio', () => {
  test.each<[string, string | undefined, string]>([
    ['is not there', undefined, 'is not there'],
    [
      'is not trusted',
      JSON.stringify({ mcpServers: { x: { command: 'cat', args: ['--what=x'] } } }),
      'is not trusted yet',
    ],
    ['is broken', '{ "mcpServers": { "x": { "comand": "cat" } } }', 'comand'],
  ])('answers initialize with the reason if its file %s', async (_, text, reason) => {
    const home = newHome();
    if (text !== undefined) home.write('parley.config.json', text);
    const { status, stdout } = await home.run(
      ['serve', join(home.path, 'parley.config.json'), '--stdio'],
      `${JSON.stringify(HELLO)}\n`,
      PLAIN,
    );
    const answer = JSON.parse(stdout) as { id: number; error: { message: string } };
    expect([status, answer.id]).toEqual([1, 1]);
    expect(answer.error.message).toContain(reason);
    expect(answer.error.message).not.toContain('--what=x');
  });

  test('answers a client that says server/discover, too', async () => {
    const home = newHome();
    const failed = await connect(home.address(['serve', 'nothing.json', '--stdio'])).then(
      () => 'connected',
      ({ message }: Error) => message,
    );
    expect(failed).toContain('is not there');
  });
});
