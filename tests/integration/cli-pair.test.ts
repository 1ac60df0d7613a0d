// `parley pair` as a process: the code it shows pairs a browser with the running gateway, across a restart, until it is removed.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { connected } from '../helpers/fixture-server.ts';
import { DEMO_FIXTURE, homesOfTests } from '../helpers/parley.ts';

const { newHome, start } = homesOfTests();
const [command, ...args] = DEMO_FIXTURE;

it('pairs a browser with the gateway until it is removed, and keeps only hashes', async () => {
  const home = newHome();
  const state = join(home.path, 'state');
  const env = { XDG_STATE_HOME: state, LOCALAPPDATA: state, BROWSER: 'none' };
  const file = home.write('mcp.json', { mcpServers: { demo: { command, args, tools: { approve: ['probe_log'] } } } });
  const run = (...words: string[]) => home.run(['pair', ...words], '', env);
  const gateway = start(home, ['serve', file, '--port', '0', '--open'], env);
  const url = await gateway.url();
  const page = url.replace(/\/mcp$/, '/ask');
  await using client = await connected(url);
  expect(JSON.stringify(await client.callTool('probe_log'))).toContain('parley pair');
  expect((await run('ls')).stdout).toContain('No browser is paired');

  const { code } = JSON.parse((await run('--config', file, '--json')).stdout) as { code: string };
  const browser = new FakeBrowser();
  expect((await browser.post(page, { do: 'pair', code })).text).toContain('Nothing waits for you');
  await client.callTool('probe_log');
  expect((await browser.get(page)).text).toContain('probe_log');
  const [kept] = JSON.parse((await run('ls', '--json')).stdout) as { name: string }[];
  const stored = join(state, 'parley', 'pairings.json');
  const [secret] = [...browser.cookies.values()];
  expect(readFileSync(stored, 'utf8')).not.toMatch(new RegExp(`${secret}|${code.replaceAll('-', '-?')}`));
  if (process.platform !== 'win32') expect(statSync(stored).mode & 0o777).toBe(0o600);

  expect(await run('rm', 'nobody')).toMatchObject({ status: 1 });
  expect(await run('rm', kept!.name)).toMatchObject({ status: 0 });
  expect((await browser.get(page)).text).toContain('Pair this browser');
});

it('with publicUrl, the lines for clients and the page for the code have that address', async () => {
  const home = newHome();
  const env = { BROWSER: 'none' };
  const publicUrl = 'https://mcp.example.com/';
  const file = home.write('mcp.json', { mcpServers: { demo: { command, args } }, publicUrl });
  const gateway = start(home, ['serve', file, '--port', '0', '--open'], env);
  await gateway.url();
  const line = 'claude mcp add --transport http parley https://mcp.example.com/mcp';
  await gateway.says(/(\[mcp_servers)/);
  expect(gateway.stdout).toContain(line);
  expect((await home.run(['status', '--lines'], '', env)).stdout).toContain(line);
  const paired = await home.run(['pair', '--json'], '', env);
  expect(JSON.parse(paired.stdout)).toMatchObject({ page: 'https://mcp.example.com/ask' });
});

it('says which form the name of a user has where callers log in at issuers', async () => {
  const home = newHome();
  const env = { BROWSER: 'none' };
  const issuers = ['https://login.example.com', { issuer: 'https://other.example.com/x', audience: '${NOT_SET}' }];
  const write = (auth: object) =>
    home.write('parley.config.json', {
      mcpServers: { a: { url: 'https://mcp.example.com/mcp' } },
      publicUrl: 'https://gw.example.com',
      auth,
    });
  const pair = (user: string) => home.run(['pair', '--config', 'parley.config.json', '--user', user], '', env);
  const key = 'k'.repeat(40);
  write({ issuers, keys: [{ name: 'laptop', user: 'ann', key }] });
  for (const user of [
    'alice',
    'https://elsewhere.example.com#alice',
    'https://login.example.com.evil#alice',
    'laptop',
  ]) {
    const { status, stdout, stderr } = await pair(user);
    expect([user, status, stdout]).toEqual([user, 1, '']);
    expect(stderr).toContain(`nobody here can be "${user}"`);
    expect(stderr).toContain(`parley pair --user 'https://login.example.com#`);
    expect(stderr).toContain('https://other.example.com/x');
  }
  for (const user of ['https://login.example.com#alice', 'https://other.example.com/x#a#b', 'ann', 'key:ann'])
    expect([user, (await pair(user)).status]).toEqual([user, 0]);
  expect((await home.run(['key', 'add', 'phone', '--user', 'bob'], '', env)).status).toBe(0);
  expect((await pair('bob')).status).toBe(0);
  write({ front: { issuer: 'https://accounts.example.com', clientId: 'c' } });
  expect((await pair('https://gw.example.com/oauth#alice')).status).toBe(0);
  expect((await pair('https://accounts.example.com#alice')).stderr).toContain(`'https://gw.example.com/oauth#alice'`);
  write({ keys: [{ name: 'ann', key }] });
  expect((await pair('carol')).status).toBe(0); // her key may come later
});
