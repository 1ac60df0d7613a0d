// Two `parley serve` processes with folders of their own, and one Redis: keys and paired browsers of one are those of the other.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { send } from '../helpers/http-wire.ts';
import { modern, openSession } from '../helpers/mcp-http.ts';
import { DEMO_FIXTURE, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { hasTool } from '../helpers/tools.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const [command, ...args] = DEMO_FIXTURE;
const ENV = { BROWSER: 'none', PARLEY_KEY: 'a key that all gateways have' };

describe.skipIf(!hasTool('redis-server'))('two gateways with one state', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  async function serve(more: object) {
    const config = {
      mcpServers: { demo: { command, args, tools: { approve: ['probe_log'] } } },
      state: redis.url,
      keys: '${PARLEY_KEY}',
      ...more,
    };
    const homes = [newHome(), newHome()] as [Home, Home];
    const gateways = homes.map((home) =>
      start(home, ['serve', home.write('parley.config.json', config), '--port', '0'], ENV),
    );
    const urls = (await Promise.all(gateways.map((gateway) => gateway.url()))) as [string, string];
    const run = async (home: Home, ...words: string[]) => home.run(words, '', ENV);
    return { homes, urls, run };
  }

  const statusAt = async (url: string, key: string): Promise<number> => {
    const { body, headers } = modern('tools/list');
    return (await send(url, { body, headers: { ...headers, authorization: `Bearer ${key}` } })).status;
  };

  it('a key that is made at one works at the other, and one that is removed there ends what it has open here', async () => {
    const { homes, urls, run } = await serve({ auth: {} });
    const key = (await run(homes[0], 'key', 'add', 'laptop')).stdout.trim();
    for (const url of urls) await until('the key to work', async () => (await statusAt(url, key)) === 200);
    const again = await run(homes[1], 'key', 'add', 'laptop');
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('there is a key called "laptop"') });
    expect((await run(homes[1], 'key', 'ls')).stdout).toContain('laptop');
    const session = await openSession(urls[0], { headers: { authorization: `Bearer ${key}` } });
    const stream = await session.stream();
    expect((await run(homes[1], 'key', 'rm', 'laptop')).status).toBe(0);
    await stream.untilEnd();
    for (const url of urls) expect(await statusAt(url, key)).toBe(401);
    expect((await run(homes[0], 'key', 'rm', 'laptop')).status).toBe(1);
  });

  it('while the state does not answer, the keys that are known go on, and a command says what is wrong', async () => {
    const { homes, urls, run } = await serve({ auth: {} });
    const key = (await run(homes[0], 'key', 'add', 'steady')).stdout.trim();
    await until('the key to work', async () => (await statusAt(urls[0], key)) === 200);
    const goOn = await redis.pause();
    expect(await statusAt(urls[0], key)).toBe(200);
    const listed = await run(homes[0], 'key', 'ls');
    expect(listed.status).toBe(1);
    expect(listed.stderr).toContain('cannot be opened');
    await goOn();
  });

  it('a browser that is paired at one answers at the other, until it is removed', async () => {
    const { homes, urls, run } = await serve({ listen: { open: true } });
    const [first, second] = urls.map((url) => url.replace(/\/mcp$/, '/ask')) as [string, string];
    const { code } = JSON.parse((await run(homes[1], 'pair', '--json')).stdout) as { code: string };
    const browser = new FakeBrowser();
    expect((await browser.post(first, { do: 'pair', code: 'WRON-GWRO-NGWR' })).status).toBe(403);
    expect((await browser.post(first, { do: 'pair', code })).text).toContain('Nothing waits for you');
    const cookies = new Map(browser.cookies);
    const elsewhere = new FakeBrowser();
    for (const [name, value] of cookies) elsewhere.cookies.set(name, value);
    expect((await elsewhere.get(second)).text).toContain('Nothing waits for you');
    // It works once, wherever it is entered.
    expect((await new FakeBrowser().post(second, { do: 'pair', code })).status).toBe(403);
    const [kept] = JSON.parse((await run(homes[0], 'pair', 'ls', '--json')).stdout) as { name: string }[];
    expect((await run(homes[0], 'pair', 'rm', kept!.name)).status).toBe(0);
    for (const page of [first, second]) {
      expect((await elsewhere.get(page)).text).toContain('Pair this browser');
    }
  });
});

it('a configuration whose state is in Redis needs keys, and says so', async () => {
  const home = newHome();
  home.write('parley.config.json', { mcpServers: { demo: { command, args } }, state: 'redis://127.0.0.1:1' });
  const { status, stderr } = await home.run(['serve', '--port', '0'], '', ENV);
  expect(status).toBe(1);
  expect(stderr).toContain('it needs "keys"');
});
