// What waits for a person at one of three gateways is shown at all of them, and answered at any. Each gateway is asked by itself, without a proxy.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NowView } from '../../src/gateway/features/console/views.ts';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { send } from '../helpers/http-wire.ts';
import type { Json, Reply } from '../helpers/http-wire.ts';
import { callModern, elicits, modern } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { until } from '../helpers/until.ts';

const KEYS = { ada: 'the-key-of-ada-which-is-long', bob: 'the-key-of-bob-which-is-long' };
type User = keyof typeof KEYS;

let redis: RedisServer;
let effects: EffectsServer;
let cluster: TestCluster;
beforeAll(async () => {
  [redis, effects] = await Promise.all([startRedis(), EffectsServer.start()]);
  cluster = await TestCluster.start({
    redis: redis.url,
    servers: { effects: { url: effects.url, revision: '2025-11-25', tools: { approve: ['pay'] } } },
    config: {
      auth: { keys: Object.entries(KEYS).map(([name, key]) => ({ name, key, user: name })) },
      ask: { trust: ['key:ada'] },
    },
    hasLogin: true,
  });
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await effects?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

const rootOf = (at: number): string => cluster.replicas[at]!.url.replace(/\/mcp$/, '');
const origin = (): string => new URL(cluster.url).origin;

/** A browser of this user, which asks whichever gateway it is told to. */
class Browser {
  #key = '';
  #cookie = '';

  static async paired(user: User): Promise<Browser> {
    const browser = new Browser();
    const { stdout } = await cluster.replicas[0]!.home.run(['pair', '--user', `key:${user}`, '--json']);
    const { code } = JSON.parse(stdout) as { code: string };
    const response = await browser.#send(`${rootOf(1)}/console/enter`, { code });
    browser.#cookie = response.headers.getSetCookie()[0]!.split(';')[0]!;
    browser.#key = ((await response.json()) as { key: string }).key;
    return browser;
  }

  #send(url: string, body?: Record<string, string>): Promise<Response> {
    const headers = { cookie: this.#cookie, origin: origin(), 'sec-fetch-site': 'same-origin' };
    return fetch(url, {
      headers,
      redirect: 'manual',
      ...(body && { method: 'POST', body: new URLSearchParams(body) }),
    });
  }

  async questions(at: number): Promise<NowView['questions']> {
    const response = await this.#send(`${rootOf(at)}/console/api/${this.#key}/now`);
    return ((await response.json()) as NowView).questions;
  }

  async page(at: number): Promise<string> {
    return (await this.#send(`${rootOf(at)}/ask/${this.#key}`)).text();
  }

  async say(at: number, handle: string, word: string): Promise<number> {
    const url = `${rootOf(at)}/console/api/${this.#key}/answer?t=${encodeURIComponent(handle)}`;
    return (await this.#send(url, { handle, say: word })).status;
  }

  /** Follows the link of a question at another gateway than the one in it. */
  async follow(at: number, link: string): Promise<Response> {
    return this.#send(link.replace(origin(), rootOf(at)));
  }
}

/** A call that waits for a yes at this gateway; its handle. */
async function asked(at: number, user: User, id: string): Promise<string> {
  const { text } = await callModern(cluster.replicas[at]!.url, 'pay', { id }, bearer(user));
  return /ask_[\w.-]+/.exec(text)![0];
}

async function fetched(at: number, user: User, handle: string): Promise<string> {
  return (await callModern(cluster.replicas[at]!.url, 'parley_answer', { handle }, bearer(user))).text;
}

/** A call of a client without a session that shows forms. */
function callAt(at: number, name: string, id: string, retry: Json = {}): Promise<Reply> {
  const { body, headers } = modern('tools/call', { name, arguments: { id }, ...retry }, elicits);
  return send(cluster.replicas[at]!.url, { body, headers: { ...headers, ...bearer('ada') } });
}

/** What the client sends after its user has said yes to all questions of the answer. */
function yesTo({ json }: Reply): Json {
  const { inputRequests, requestState } = json.result as { inputRequests: Json; requestState: string };
  const yes = { action: 'accept', content: { approve: true, name: 'Ann' } };
  return { requestState, inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, yes])) };
}

const bearer = (user: User): Record<string, string> => ({ authorization: `Bearer ${KEYS[user]}` });
const handles = (questions: NowView['questions']): string[] => questions.map(({ handle }) => handle);

it('what waits at one gateway is shown at each to the person it is for, who answers it there, once', async () => {
  const [ada, bob] = await Promise.all([Browser.paired('ada'), Browser.paired('bob')]);
  const [ofAda, ofBob] = [await asked(0, 'ada', 'a1'), await asked(1, 'bob', 'b1')];
  for (const at of [0, 1, 2]) {
    const shown = await until('the question', async () => {
      const [first] = await ada.questions(at);
      return first;
    });
    expect(shown).toMatchObject({ handle: ofAda, tool: 'pay', user: 'key:ada', isTheirs: true });
    expect(shown.questions[0]).toMatchObject({ isConfirm: true, message: expect.stringContaining('"a1"') });
    await until('the other question', async () => handles(await bob.questions(at)).includes(ofBob));
    expect(handles(await ada.questions(at))).toEqual([ofAda]);
    expect(await ada.page(at)).toContain('<code>pay</code>');
    expect((await ada.follow(at, shown.link!)).status).toBe(200);
  }
  expect(await bob.say(2, ofAda, 'yes')).toBe(403);
  expect(await ada.say(2, ofAda, 'yes')).toBe(200);
  expect(await ada.say(1, ofAda, 'no')).toBe(409);
  expect(await bob.say(0, ofBob, 'no')).toBe(200);
  expect(await fetched(1, 'ada', ofAda)).toContain('pay a1 none');
  expect(await fetched(2, 'bob', ofBob)).toMatch(/declined|was not approved|refused/i);
  expect(effects.effects()).toEqual(new Map([['a1', 1]]));
  for (const at of [0, 1, 2]) await until('an empty list', async () => (await ada.questions(at)).length === 0);
});

it('a question that is answered at two gateways at the same time is answered once', async () => {
  const ada = await Browser.paired('ada');
  for (let n = 0; n < 3; n++) {
    const handle = await asked(n % 3, 'ada', `race${n}`);
    for (const at of [0, 1, 2])
      await until('the question', async () => handles(await ada.questions(at)).includes(handle));
    const said = await Promise.all([0, 1, 2].map((at) => ada.say(at, handle, 'yes')));
    expect(said.toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(await fetched((n + 1) % 3, 'ada', handle)).toContain(`pay race${n} none`);
    expect(effects.effects().get(`race${n}`)).toBe(1);
  }
});

it('questions are shown at other gateways again after the store has lost them', async () => {
  const ada = await Browser.paired('ada');
  const handle = await asked(0, 'ada', 'dropped');
  await until('the question elsewhere', async () => handles(await ada.questions(1)).includes(handle));
  const rows = () => redis.tell('KEYS', '{parley}c:questions:*') as Promise<string[]>;
  const lost = await rows();
  expect(await redis.tell('DEL', ...lost)).toBe(1);
  await until('the row again', async () => (await rows()).length === 1);
  await until('the question again', async () => handles(await ada.questions(2)).includes(handle));
  expect(await ada.say(1, handle, 'decline')).toBe(200);
});

it('a call whose gateway was killed while it asked is begun again if no server had it, and may have acted if one had', async () => {
  const [unsent, sent] = [await callAt(2, 'pay', 'unsent'), await callAt(2, 'ask', 'sent')];
  await cluster.kill(2);
  const again = await callAt(0, 'pay', 'unsent', yesTo(unsent));
  expect(again.json.result).toMatchObject({ resultType: 'input_required' });
  expect(Object.keys(yesTo(again).inputResponses as Json)).not.toEqual(
    Object.keys(yesTo(unsent).inputResponses as Json),
  );
  expect(effects.effects().has('unsent')).toBe(false);
  expect((await callAt(1, 'pay', 'unsent', yesTo(again))).text).toContain('pay unsent none');
  expect((await callAt(0, 'pay', 'unsent', yesTo(again))).text).toContain('it was already answered');
  expect(effects.effects().get('unsent')).toBe(1);
  const lost = await callAt(1, 'ask', 'sent', yesTo(sent));
  expect(lost.json.result).toMatchObject({ isError: true });
  expect(lost.text).toContain('the gateway that held the call has ended. The tool may already have acted');
  await cluster.restart(2);
});

it('a question ends with its gateway: lists leave it out, and an answer to it is refused', async () => {
  const ada = await Browser.paired('ada');
  const handle = await asked(2, 'ada', 'lost');
  const [shown] = await until('the question', async () => {
    const found = await ada.questions(0);
    return found.length > 0 ? found : undefined;
  });
  await cluster.kill(2);
  expect([409, 503]).toContain(await ada.say(0, handle, 'yes'));
  for (const at of [0, 1]) await until('an empty list', async () => (await ada.questions(at)).length === 0);
  expect(await ada.say(1, handle, 'yes')).toBe(409);
  expect((await ada.follow(0, shown!.link!)).status).toBe(410);
  expect(await fetched(0, 'ada', handle)).toContain('no open question');
  expect(effects.effects().has('lost')).toBe(false);
});
