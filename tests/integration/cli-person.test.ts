// What only a person may answer is not answered by a command line: not by --yes, not by a pipe. On a terminal it is.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connected } from '../helpers/fixture-server.ts';
import { DEMO_FIXTURE, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { Terminal } from '../helpers/terminal.ts';

const { newHome, start } = homesOfTests();
const [command, ...args] = DEMO_FIXTURE;
const SERVERS = { demo: { command, args, tools: { approve: ['probe_log'] } } };
const CALL = ['call', 'probe_log'];

it('takes neither --yes nor a pipe for a person, with and without a running gateway', async () => {
  const home = newHome();
  const file = home.write('parley.config.json', { mcpServers: SERVERS });
  await refuses(home, ['--config', file]);
  const gateway = start(home, ['serve', file, '--port', '0'], { BROWSER: 'none' });
  await gateway.says('url = "http');
  await refuses(home, []);
});

async function refuses(home: Home, where: string[]): Promise<void> {
  for (const [input, ...more] of [
    ['', '--yes'],
    ['y\ny\n', '--yes'],
    ['y\ny\n', ''],
  ]) {
    const { status, stdout, stderr } = await home.run([...CALL, ...more.filter(Boolean), ...where], input);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('Only a person may answer this, and here is no terminal');
    expect(stderr).toContain('Run the command on a terminal');
  }
}

it('asks on a terminal, even with --yes', async () => {
  const home = newHome();
  const file = home.write('parley.config.json', { mcpServers: SERVERS });
  const { command: node, args: words = [], env = {} } = home.address([...CALL, '--yes', '--config', file]);
  await using terminal = new Terminal([node, ...words].map((word) => `'${word}'`).join(' '), env);
  await terminal.sees('y/n');
  expect(terminal.shown).toContain('probe_log needs your answer');
  await terminal.types('y\r', 'y');
  expect(await terminal.status()).toBe(0);
});

it('says that browsers cannot reach the page, not that none is paired', async () => {
  const home = newHome();
  const env = { XDG_STATE_HOME: join(home.path, 'state'), BROWSER: 'none' };
  const file = home.write('parley.config.json', { mcpServers: SERVERS });
  const gateway = start(home, ['serve', file, '--port', '0', '--host', '0.0.0.0', '--open'], env);
  await using client = await connected(await gateway.url());
  const told = JSON.stringify(await client.callTool('probe_log'));
  expect(told).toContain('publicUrl');
  expect(told).not.toContain('no browser is paired');
});

it('pairs with the page alone on its line, and names --pid where several gateways run', async () => {
  const home = newHome();
  const files = ['one.json', 'two.json'].map((name) => home.write(name, { mcpServers: SERVERS }));
  const gateways = files.map((file) => start(home, ['serve', file, '--port', '0'], { BROWSER: 'none' }));
  for (const gateway of gateways) await gateway.says('url = "http');
  const { stderr, status } = await home.run(['pair']);
  expect(status).toBe(0);
  expect(stderr).toMatch(/^ *http:\S+\/ask$/m);
  expect(stderr).toMatch(/to choose it: --pid \d+/);
  expect(stderr).not.toContain('--url');
});
