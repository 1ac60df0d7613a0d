// Gateways of this release and of the next one serve as one, as during an upgrade. The next one is a copy of this build with another version, which
// writes more into everything that others read. PARLEY_OTHER_BUILD=FOLDER plays it with a build of another commit instead.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { ROOT } from '../helpers/files.ts';
import { send } from '../helpers/http-wire.ts';
import type { Reply } from '../helpers/http-wire.ts';
import { callModern, elicits, modern, openSession } from '../helpers/mcp-http.ts';
import type { HttpSession } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { plant, uproot } from '../twin/plant.mjs';

const OTHER = process.env['PARLEY_OTHER_BUILD'];
const LATER = 'later: "what this release does not know"';
const MORE: [string, string][] = [
  ['identity: identity && who,', `identity: identity && who, ${LATER},`],
  ['draining: this.#isDraining,', `draining: this.#isDraining, ${LATER},`],
];
/** The row of a session, as a release writes it that only adds to it, and as one that changes its form. */
const ROW = 'v: FORMAT,\n\t\t\towner,';
const ADDS: [string, string] = [ROW, `v: FORMAT,\n\t\t\towner, ${LATER},`];
const CHANGES: [string, string][] = [
  [ROW, `v: FORMAT + 1,\n\t\t\towner, ${LATER},`],
  ['if (row.v > FORMAT) return', 'if (row.v > FORMAT + 1) return'],
];

interface Release {
  main: string;
  end: () => void;
}

function nextRelease(name: string, edits: [string, string][]): Release {
  const planted = plant({ name, edits }, join(ROOT, 'dist'));
  const file = join(planted.folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...manifest, version: '99.0.0' }));
  return { main: join(planted.dist, 'cli', 'main.js'), end: () => uproot(planted) };
}

let redis: RedisServer;
let effects: EffectsServer;
let cluster: TestCluster;
beforeAll(async () => {
  [redis, effects] = await Promise.all([startRedis(), EffectsServer.start()]);
});
afterEach(() => cluster?.[Symbol.asyncDispose]());
afterAll(async () => {
  await effects?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

/** The first gateway is of this release, the others are of the next one. */
async function start({ main }: Pick<Release, 'main'>): Promise<void> {
  cluster = await TestCluster.start({
    redis: redis.url,
    servers: { effects: { url: effects.url } },
    main: (n) => (n === 0 ? undefined : main),
  });
}

const textOf = ({ json, messages }: Reply) => (messages.at(-1) ?? json).result?.content?.[0]?.text;

/** A session that was opened at one of them, used at the address of all. */
async function openAt(at: number, capabilities = {}): Promise<HttpSession> {
  cluster.turnTo(at);
  return openSession(cluster.url, { capabilities });
}

describe('with a release that adds to what it writes', () => {
  let release: Release;
  beforeAll(() => {
    release = OTHER
      ? { main: join(OTHER, 'dist', 'cli', 'main.js'), end: () => {} }
      : nextRelease('a release that adds', [...MORE, ADDS]);
  });
  afterAll(() => release.end());
  beforeEach(() => start(release));

  test('sessions of each release are used, asked and ended at gateways of the other', async () => {
    for (const at of [0, 1]) {
      const session = await openAt(at, { elicitation: {} });
      for (let n = 0; n < 3; n++)
        expect(textOf(await session.call('pay', { id: `${at}-${n}` }))).toBe(`pay ${at}-${n} none`);
      for (let n = 0; n < 3; n++) {
        const stream = await session.callStream('ask', { id: `${at}-ask-${n}` }, `call-${n}`);
        const isQuestion = ({ method }: { method?: string }) => method === 'elicitation/create';
        await stream.until('the question', ({ messages }) => messages.some(isQuestion));
        const { id } = stream.messages.find(isQuestion)!;
        const result = { action: 'accept', content: { name: 'Ann' } };
        expect((await session.post({ jsonrpc: '2.0', id, result })).status).toBe(202);
        const { messages } = await stream.untilEnd();
        expect(messages.at(-1)?.result?.content?.[0]?.text).toBe(`asked ${at}-ask-${n} none Ann`);
      }
      expect((await session.delete()).status).toBe(204);
      for (const { url } of cluster.replicas)
        expect(
          (await send(url, { headers: session.headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status,
        ).toBe(404);
    }
    const seen = [...effects.effects()].filter(([id]) => /^[01]-/.test(id));
    expect(seen.every(([, count]) => count === 1)).toBe(true);
  });

  test('calls without a session are asked at one release and answered at the other', async () => {
    for (let n = 0; n < 3; n++) {
      const params = { name: 'ask', arguments: { id: `plain-${n}` } };
      const first = await send(cluster.url, modern('tools/call', params, elicits));
      const { inputRequests, requestState } = first.json.result as unknown as {
        inputRequests: Record<string, unknown>;
        requestState: string;
      };
      const accepted = { action: 'accept', content: { name: 'Bob' } };
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]));
      const retry = modern('tools/call', { ...params, requestState, inputResponses }, elicits);
      expect(textOf(await send(cluster.url, retry))).toBe(`asked plain-${n} none Bob`);
      expect(textOf(await callModern(cluster.url, 'look', { id: `look-${n}` }))).toBe(`look look-${n} none`);
    }
  });

  test('sessions of each release are taken over by the other', async () => {
    const [ofThis, ofNext] = [await openAt(0), await openAt(1)];
    await cluster.kill(0);
    expect(textOf(await ofThis.call('pay', { id: 'from-this' }))).toBe('pay from-this none');
    await cluster.restart(0);
    await cluster.kill(1);
    await cluster.kill(2);
    expect(textOf(await ofNext.call('pay', { id: 'from-next' }))).toBe('pay from-next none');
    expect(textOf(await ofThis.call('pay', { id: 'back-again' }))).toBe('pay back-again none');
    for (const id of ['from-this', 'from-next', 'back-again']) expect(effects.effects().get(id)).toBe(1);
  });
});

describe.skipIf(OTHER)('with a release that writes sessions in another form', () => {
  let release: Release;
  beforeAll(() => {
    release = nextRelease('a release that changes', [...MORE, ...CHANGES]);
  });
  afterAll(() => release.end());
  beforeEach(() => start(release));

  test('a gateway of this release passes requests on to sessions of the next one, and never writes their rows', async () => {
    const session = await openAt(1);
    for (let n = 0; n < 3; n++) expect(textOf(await session.call('pay', { id: `new-${n}` }))).toBe(`pay new-${n} none`);
    const before = await rows();
    await cluster.kill(1);
    await cluster.kill(2);
    // Only the gateway of this release is left: it cannot read the row.
    const { status } = await session.request('ping');
    expect([503, 404]).toContain(status);
    expect(await rows()).toEqual(before);
    await cluster.restart(2);
    cluster.turnTo(2);
    expect(textOf(await session.call('pay', { id: 'new-after' }))).toBe('pay new-after none');
    cluster.turnTo(0);
    expect(textOf(await session.call('pay', { id: 'new-passed-on' }))).toBe('pay new-passed-on none');
  });

  test('a session of this release is taken over by the next one, and then passed on to it', async () => {
    const session = await openAt(0);
    await cluster.kill(0);
    expect(textOf(await session.call('pay', { id: 'old-1' }))).toBe('pay old-1 none');
    await cluster.restart(0);
    const before = await rows();
    cluster.turnTo(0);
    expect(textOf(await session.call('pay', { id: 'old-2' }))).toBe('pay old-2 none');
    expect(await rows()).toEqual(before);
  });
});

/** What Redis has of sessions. */
async function rows(): Promise<unknown[]> {
  const keys = ((await redis.tell('KEYS', '*c:sessions:*')) as string[]).toSorted();
  expect(keys.length).toBeGreaterThan(0);
  return Promise.all(
    keys.map(async (key) => {
      const isHash = (await redis.tell('TYPE', key)) === 'hash';
      return [key, await (isHash ? redis.tell('HGETALL', key) : redis.tell('GET', key))];
    }),
  );
}
