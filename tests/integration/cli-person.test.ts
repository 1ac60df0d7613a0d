// What only a person may answer is not answered by a command line: not by --yes, not by a pipe. On a terminal it is.
import { readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { connected } from '../helpers/fixture-server.ts';
import { DEMO_FIXTURE, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { Terminal } from '../helpers/terminal.ts';
import { within } from '../helpers/until.ts';

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
    expect(stderr).toContain('Only a person may answer this, and there is no terminal here');
    expect(stderr).toContain('Run the command on a terminal');
  }
}

it('calls off what it cannot answer: nothing waits at the gateway afterwards', async () => {
  const home = newHome();
  const file = home.write('parley.config.json', { mcpServers: SERVERS });
  const gateway = start(home, ['serve', file, '--port', '0', '--open'], { BROWSER: 'none' });
  const metrics = new URL('/metrics', await gateway.url());
  await refuses(home, []);
  const waiting = async () => /^parley_exchanges_in_flight (\d+)$/m.exec(await (await fetch(metrics)).text())![1];
  expect(await waiting()).toBe('0');
  // And a person at a terminal is still asked.
  const { command: node, args: words = [], env = {} } = home.address(CALL);
  await using terminal = new Terminal([node, ...words].map((word) => `'${word}'`).join(' '), env);
  await terminal.sees('y/n');
  await terminal.types('y\r', 'y');
  expect(await terminal.status()).toBe(0);
});

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

it('takes no form of a program that finds the control socket, and does of its own command on a terminal', async () => {
  const home = newHome();
  const file = home.write('parley.config.json', { mcpServers: SERVERS });
  const gateway = start(home, ['serve', file, '--port', '0'], { BROWSER: 'none' });
  await gateway.says('url = "http');
  const folder = join(home.path, 'state', 'parley');
  const name = readdirSync(folder).find((one) => one.endsWith('.sock'))!;
  for (const opening of ['mcp', 'own parley_guessed', 'own'])
    expect(await forgedApproval(join(folder, name), opening)).toEqual({
      asked: 0,
      text: expect.stringContaining('person'),
    });
  const { command: node, args: words = [], env = {} } = home.address(CALL);
  await using terminal = new Terminal([node, ...words].map((word) => `'${word}'`).join(' '), env);
  await terminal.sees('y/n');
  await terminal.types('y\r', 'y');
  expect(await terminal.status()).toBe(0);
});

/** A client on the socket that says yes to every form. */
async function forgedApproval(path: string, opening: string): Promise<{ asked: number; text: string }> {
  const socket = createConnection(path);
  let asked = 0;
  const answered = new Promise<string>((resolve) => {
    createInterface({ input: socket }).on('line', (line) => {
      const { id, method } = JSON.parse(line) as { id?: number; method?: string };
      if (method === 'elicitation/create') {
        asked++;
        say({ id, result: { action: 'accept', content: { approve: true } } });
      } else if (id === 2) resolve(line);
    });
  });
  const say = (message: object): void => void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  socket.write(`${opening}\n`);
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'x', version: '1' },
  };
  say({ id: 1, method: 'initialize', params });
  say({ method: 'notifications/initialized' });
  say({ id: 2, method: 'tools/call', params: { name: 'probe_log', arguments: {} } });
  const text = await within('the answer', answered);
  socket.destroy();
  return { asked, text };
}
