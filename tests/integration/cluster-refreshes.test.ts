// Users with an account each at a server whose tokens are short, and whose issuer ends the whole login when a refresh token is used twice. Each of them
// calls three gateways at once, so that all three find the same token expired: nobody has to log in again.
// PARLEY_REFRESH_MINUTES=20 runs it for that long with 100 users and tokens of 60 s, and with UPDATE_DOCS=1 writes what it has counted.
import { afterAll, expect, it } from 'vitest';
import { TestCluster } from '../helpers/cluster.ts';
import { renewPart } from '../helpers/evidence-part.ts';
import { callModern } from '../helpers/mcp-http.ts';
import { LoginBrowser } from '../helpers/login-browser.ts';
import { startOidcServer } from '../helpers/oidc-server.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { until } from '../helpers/until.ts';

const MINUTES = Number(process.env.PARLEY_REFRESH_MINUTES ?? 0);
const IS_LONG = MINUTES > 0;
const USERS = IS_LONG ? 100 : 4;
const TOKEN_SECONDS = IS_LONG ? 60 : 2;
const PAUSE_MS = IS_LONG ? 10_000 : 100;
/** Of each user, in the short run. */
const RENEWALS = 2;

let redis: RedisServer;
afterAll(() => redis?.[Symbol.asyncDispose]());

/** Keeps everything, where that of the library forgets the oldest of a thousand records. */
class Records {
  static readonly #all = new Map<string, Record<string, unknown>>();
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  #key(id: string): string {
    return `${this.#kind}:${id}`;
  }

  async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
    Records.#all.set(this.#key(id), payload);
  }

  async find(id: string): Promise<Record<string, unknown> | undefined> {
    return Records.#all.get(this.#key(id));
  }

  async findByUid(uid: string): Promise<Record<string, unknown> | undefined> {
    return [...Records.#all.values()].find((one) => one.uid === uid);
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async consume(id: string): Promise<void> {
    Records.#all.get(this.#key(id))!.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    Records.#all.delete(this.#key(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, one] of Records.#all) if (one.grantId === grantId) Records.#all.delete(key);
  }
}

it(
  'users of three gateways whose tokens expire all the time never log in again',
  async () => {
    redis = await startRedis();
    await using server = await startOidcServer({ accessTtl: TOKEN_SECONDS, configuration: { adapter: Records } });
    const names = Array.from({ length: USERS }, (_, n) => `user${n}`);
    const keyOf = (name: string): string => `the-key-of-${name}-which-is-long-enough`;
    await using cluster = await TestCluster.start({
      redis: redis.url,
      servers: { guarded: { url: server.url, account: 'user' } },
      config: { auth: { keys: names.map((name) => ({ name, key: keyOf(name) })) } },
      hasLogin: true,
    });
    const urls = cluster.replicas.map(({ url }) => url);
    const call = (url: string, name: string) =>
      callModern(url, 'account', {}, { authorization: `Bearer ${keyOf(name)}` });
    const refreshes = (): number => server.counts.get('refresh_token') ?? 0;

    for (const [n, name] of names.entries()) {
      const { text } = await call(urls[n % 3]!, name);
      await new LoginBrowser(name).logIn(/http:[^\s"\\]+\/login\?t=[\w.-]+/.exec(text)![0]);
      for (const url of urls)
        await until('the login to be known', async () => (await call(url, name)).text.includes(`"text":"${name}"`));
    }
    expect(server.counts.get('page')).toBe(USERS);

    const [end, enough] = [Date.now() + MINUTES * 60_000, refreshes() + RENEWALS * USERS];
    const failed: string[] = [];
    let calls = 0;
    const isOver = (): boolean => (IS_LONG ? Date.now() > end : refreshes() >= enough);
    const use = async (name: string): Promise<void> => {
      while (!isOver()) {
        for (const { text } of await Promise.all(urls.map((url) => call(url, name)))) {
          calls += 1;
          if (!text.includes(`"text":"${name}"`)) failed.push(text);
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    };
    await Promise.all(names.map(use));
    expect(failed).toEqual([]);
    expect(server.counts.get('page')).toBe(USERS);
    expect([...server.counts].filter(([what]) => what === 'revoked' || what.startsWith('error'))).toEqual([]);
    const table = [
      '| what | result |',
      '|---|---|',
      `| users, gateways, life of a token, minutes | ${USERS}, 3, ${TOKEN_SECONDS} s, ${MINUTES} |`,
      `| calls, each user at all three gateways at once | ${calls} |`,
      `| tokens renewed | ${refreshes()} |`,
      `| refresh tokens used twice, logins ended, calls that failed | 0 |`,
      `| logins after the first one of each user | ${server.counts.get('page')! - USERS} |`,
    ];
    if (IS_LONG) renewPart('refreshes', table);
  },
  IS_LONG ? MINUTES * 60_000 + 600_000 : undefined,
);
