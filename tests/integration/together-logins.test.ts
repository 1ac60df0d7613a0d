// Gateways that share a state log in at a server once for all of them, and spend each refresh token once. With a real redis-server, and a real
// authorization server that ends the whole login when a refresh token is used twice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from 'mcp-parley';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { LoginBrowser } from '../helpers/login-browser.ts';
import { startOidcServer } from '../helpers/oidc-server.ts';
import type { OidcServer } from '../helpers/oidc-server.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startTogether } from '../helpers/together.ts';
import type { Together } from '../helpers/together.ts';
import { hasTool } from '../helpers/tools.ts';
import { within } from '../helpers/until.ts';

describe.skipIf(!hasTool('redis-server'))('gateways with one state', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  const start = ({ url }: OidcServer, count: number): Promise<Together> =>
    startTogether(redis, count, () => ({ servers: { guarded: { url, auth: {} } } }));

  async function logIn(url: string): Promise<void> {
    await using client = await connected(url);
    const { content, _meta } = await client.callTool('guarded__whoami');
    const link = /http:\S+\/login\?t=[\w-]+/.exec((content[0] as { text: string }).text)![0];
    await new LoginBrowser().logIn(link);
    const handle = String(_meta?.['mcp-parley/handle']);
    expect(await within('the result', textOf(client, 'parley_answer', { handle }))).toBe('hello');
  }

  const clients = ({ urls }: Together): Promise<Client[]> => Promise.all(urls.map((url) => connected(url)));
  const refreshes = ({ counts }: OidcServer): number => counts.get('refresh_token') ?? 0;

  it('a person logs in at one gateway, and all have the login, also those that were asked before', async () => {
    await using server = await startOidcServer();
    await using nodes = await start(server, 3);
    await using before = await connected(nodes.urls[2]!);
    expect((await before.listTools()).map(({ name }) => name)).toEqual(['login']);
    await logIn(nodes.urls[0]!);
    for (const client of [...(await clients(nodes)), before]) {
      expect(await textOf(client, 'whoami')).toBe('hello');
      await client.close();
    }
    expect([server.counts.get('page'), server.counts.get('registered')]).toEqual([1, 1]);
  });

  it('tokens of seconds are renewed once for all gateways, and the login never ends', async () => {
    await using server = await startOidcServer({ accessTtl: 2 });
    await using nodes = await start(server, 2);
    await logIn(nodes.urls[0]!);
    const [one, two] = (await clients(nodes)) as [Client, Client];
    while (refreshes(server) < 4) {
      const calls = Array.from({ length: 12 }, (_, n) => textOf(n % 2 ? one : two, 'whoami'));
      expect(new Set(await Promise.all(calls))).toEqual(new Set(['hello']));
    }
    expect(server.counts.get('revoked')).toBeUndefined();
    expect(server.counts.get('page')).toBe(1);
    await Promise.all([one.close(), two.close()]);
  });

  it('while the state does not answer no token is spent, and afterwards the login goes on', async () => {
    await using server = await startOidcServer({ accessTtl: 2 });
    await using nodes = await start(server, 2);
    await logIn(nodes.urls[0]!);
    const all = await clients(nodes);
    await Promise.all(all.map((client) => textOf(client, 'whoami')));
    const spent = refreshes(server);
    const goOn = redis.halt();
    try {
      const refused = await Promise.all(
        all.map(async (client) => {
          for (;;) {
            const { isError } = await client.callTool('whoami').catch(() => ({ isError: true }));
            if (isError === true) return true;
          }
        }),
      );
      expect(refused).toEqual([true, true]);
      expect(refreshes(server)).toBe(spent);
    } finally {
      goOn();
    }
    for (const client of all) {
      await within(
        'the login to go on',
        (async () => {
          while ((await textOf(client, 'whoami').catch(() => '')) !== 'hello');
        })(),
      );
    }
    expect([server.counts.get('revoked'), server.counts.get('page')]).toEqual([undefined, 1]);
    await Promise.all(all.map((client) => client.close()));
  });
});
