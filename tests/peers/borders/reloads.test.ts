// Servers are replaced while calls wait for them to start.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import { Home } from '../../helpers/parley.ts';
import { until } from '../../helpers/until.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';
import type { SdkClient } from './helpers/sdk-clients.ts';

const SERVER = fileURLToPath(new URL('servers/silent-v1.mjs', import.meta.url));
const slow = (version: number) => ({
  command: process.execPath,
  args: [SERVER, '--start-ms', '1500', `--version=${version}`],
});

test.each(KINDS)(
  'a call that waits for a server to start is answered, however often it is replaced: %s',
  async (kind) => {
    const log = createLog({ level: 'silent' });
    const gateway = createGateway({ servers: { slow: slow(0) }, log, startMs: 60_000 });
    const { url } = await gateway.listen({ port: 0 });
    const first = await connectSdk(kind, url);
    const connecting: Promise<SdkClient>[] = [];
    const calls: Promise<string>[] = [];
    for (let version = 1; version <= 4; version++) {
      calls.push(first.call('runs'), first.call('silent', { ms: 1 }));
      connecting.push(connectSdk(kind, url));
      gateway.update({ servers: { slow: slow(version) } });
      calls.push(first.call('runs'));
      await new Promise((resolve) => setTimeout(resolve, 300)); // another moment of the start each time
    }
    const answers = await Promise.all(calls);
    expect(answers.every((answer) => ['0', '1', 'done'].includes(answer))).toBe(true);
    for (const client of await Promise.all(connecting)) {
      expect((await client.client.listTools()).tools.map(({ name }) => name)).toContain('hold');
      await client.client.close();
    }
    await first.client.close();
    await gateway.close();
  },
);

test('the same for a configuration file that is rewritten again and again', async () => {
  using home = new Home();
  const write = (version: number) => home.write('parley.config.json', { mcpServers: { slow: slow(version) } });
  await using parley = home.start(['serve', write(0), '--port', '0', '--open']);
  await using client = await connectSdk('SDK v1', await parley.url());
  expect(await client.call('runs')).toBe('0');
  const calls: Promise<string>[] = [];
  for (let version = 1; version <= 3; version++) {
    write(version);
    await until('the change to be seen', () => parley.stderr.split('restarted slow').length > version);
    calls.push(client.call('silent', { ms: 1 })); // the next change comes while it waits
  }
  expect(await Promise.all(calls)).toEqual(['done', 'done', 'done']);
});
