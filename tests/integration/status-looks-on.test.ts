// Looking at a gateway changes nothing: the page of its state starts no process of a server that has one for each client.
import { expect, test } from 'vitest';
import { childrenOf, connected, fixture, textOf } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { DEMO_FIXTURE, Home } from '../helpers/parley.ts';

test('the status counts tools by a connection that is there', async () => {
  using home = new Home();
  const { command, args } = fixture('bridged', ['--stdio']);
  const server = { command, args, revision: '2025-11-25' };
  home.write('parley.config.json', { mcpServers: { asked: server }, listen: { port: 0 } });
  await using gateway = home.start(['serve', '--open']);
  const url = await gateway.url();
  await using client = await connected(url, { onElicit: () => ({ action: 'decline' as const }) });
  expect(await textOf(client, 'pid')).toMatch(/^\d+$/);
  const before = childrenOf(gateway.child.pid!);
  const { json } = await send(new URL('/status', url).href, { method: 'GET' });
  const [asked] = (json as unknown as { servers: { tools: number; state: string }[] }).servers;
  expect(asked!.state).toBe('ready');
  expect(asked!.tools).toBeGreaterThan(10);
  expect(childrenOf(gateway.child.pid!)).toEqual(before);
});

test('the status counts the tools that clients see, and says how many the server has', async () => {
  using home = new Home();
  const [command, ...args] = DEMO_FIXTURE;
  const server = { command, args, tools: { deny: ['probe_log'] } };
  const steps = [{ filter: { tools: { deny: ['demo__probe_sleep'] } } }];
  home.write('parley.config.json', { mcpServers: { demo: server }, steps, listen: { port: 0 } });
  await using gateway = home.start(['serve', '--open']);
  const url = await gateway.url();
  await using client = await connected(url);
  const seen = (await client.listTools()).length;
  expect((await home.run(['status', url])).stdout).toContain(` ${seen} of ${seen + 2} `);
  const { servers } = JSON.parse((await home.run(['status', '--json', url])).stdout) as { servers: object[] };
  expect(servers).toMatchObject([{ name: 'demo', tools: seen, ownTools: seen + 2 }]);
  const started = await home.run(['status', '--config', 'parley.config.json']);
  expect(started.stdout).toContain(` ${seen} of ${seen + 2} `);
});
