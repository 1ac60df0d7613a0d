// One gateway of several files: each is trusted for itself, a change of each is followed, and what cannot be put together is refused.
import { describe, expect, test } from 'vitest';
import { connect } from 'mcp-parley';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const PLAIN = { PARLEY_TRUST: '' };
const NAMED = { ...WEATHER, env: { NAME: 'other' } };

describe('serve of several files', () => {
  test('serve of several files waits until each of them is trusted, and follows a change of each', async () => {
    const home = newHome();
    const one = home.write('one.json', { mcpServers: { first: WEATHER } });
    const two = home.write('two.json', { servers: { second: WEATHER } });
    await home.run(['trust', one, '--yes'], '', PLAIN);
    const refused = await home.run(['serve', one, two, '--port', '0'], '', PLAIN);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('two.json is not trusted yet')]);
    await home.run(['trust', two, '--yes'], '', PLAIN);

    const gateway = start(home, ['serve', one, two, '--port', '0', '--open'], PLAIN);
    await using client = await connect(await gateway.url());
    const owners = async (): Promise<string> =>
      [...new Set((await client.listTools()).map(({ name }) => name.split('__')[0]))].join(' ');
    await until('both servers', async () => (await owners()) === 'first second');

    home.write('two.json', { servers: { second: { ...WEATHER, tools: { deny: ['*'] } } } });
    await until('the rule of the second file', async () => (await owners()) === 'first');
    await gateway.says(/two\.json has changed: /);

    home.write('two.json', { servers: { first: NAMED } });
    await gateway.says(/one\.json has a server/);
    await gateway.says(/two\.json has changed and cannot be used/);
    home.write('two.json', { servers: { third: NAMED } });
    await gateway.says(/two\.json has changed since you trusted it/);
    expect(await owners()).toBe('first');
    await home.run(['trust', two, '--yes'], '', PLAIN);
    await until('the new server, once it is trusted', async () => (await owners()) === 'first third');

    home.write('one.json', { mcpServers: { first: { ...WEATHER, tools: { deny: ['*'] } } } });
    await until('the rule of the first file', async () => (await owners()) === 'third');
  });

  test('serve of several files says who has the name of a server, and which file cannot be found', async () => {
    const home = newHome();
    home.write('one.json', { mcpServers: { same: WEATHER } });
    home.write('two.json', { mcpServers: { same: NAMED } });
    const clash = await home.run(['serve', 'one.json', 'two.json', '--port', '0']);
    expect([clash.status, clash.stderr]).toEqual([
      1,
      expect.stringMatching(/two\.json:\d+:\d+: error: mcpServers\.same: \S*one\.json has a server "same", too/),
    ]);
    const missing = await home.run(['serve', 'one.json', 'three.json', '--port', '0']);
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining('three.json is not there')]);
  });

  test('serve of several files on stdio serves the client that started it', async () => {
    const home = newHome();
    home.write('one.json', { mcpServers: { first: WEATHER } });
    home.write('two.json', {
      mcpServers: { second: WEATHER, self: { command: 'parley', args: ['serve', 'one.json', 'two.json'] } },
    });
    await using client = await connect(home.address(['serve', 'one.json', 'two.json', '--stdio']));
    await until('a tool of each file', async () => {
      const names = (await client.listTools()).map(({ name }) => name);
      return names.includes('first__get_weather') && names.includes('second__get_weather');
    });
    const answer = await client.callTool('second__get_weather', { location: 'Oslo' });
    expect(answer.isError).toBeFalsy();
  });
});
