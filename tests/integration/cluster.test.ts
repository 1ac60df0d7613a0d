// Three gateways behind a proxy that sends each request to the next one: clients notice nothing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { openStream, send } from '../helpers/http-wire.ts';
import { callModern, elicits, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { systemClock } from '../../src/kernel/base/clock.ts';
import { createSealer } from '../../src/kernel/crypto/seal.ts';
import { HopGrants } from '../../src/gateway/features/cluster/hop-grants.ts';
import { DEMO_FIXTURE } from '../helpers/parley.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';

const [command, ...args] = DEMO_FIXTURE;
/** Each gateway has a process of its own of it. */
const demo = { command, args };
let redis: RedisServer;
let effects: EffectsServer;
let cluster: TestCluster;
beforeAll(async () => {
  [redis, effects] = await Promise.all([startRedis(), EffectsServer.start()]);
  cluster = await TestCluster.start({ redis: redis.url, servers: { effects: { url: effects.url }, demo } });
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await effects?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

const KEYS = ['a key that all replicas of this test share'];

const textOf = ({ json }: { json: { result?: { content?: { text?: string }[] } } }) => json.result?.content?.[0]?.text;

describe('a client of three gateways', () => {
  test('uses its session at each of them', async () => {
    const session = await openSession(cluster.url);
    for (let n = 0; n < 6; n++) expect(textOf(await session.call('look', { id: `s${n}` }))).toBe(`look s${n} none`);
  });

  test('is asked on the stream of its call, and answers at another gateway', async () => {
    const session = await openSession(cluster.url, { capabilities: { elicitation: {} } });
    for (let n = 0; n < 3; n++) {
      const stream = await session.callStream('ask', { id: `a${n}` }, `call-${n}`);
      const isQuestion = ({ method }: { method?: string }) => method === 'elicitation/create';
      await stream.until('the question', ({ messages }) => messages.some(isQuestion));
      const answer = {
        jsonrpc: '2.0',
        id: stream.messages.find(isQuestion)!.id,
        result: { action: 'accept', content: { name: 'Ann' } },
      };
      expect((await session.post(answer)).status).toBe(202);
      const { messages } = await stream.untilEnd();
      expect(messages.at(-1)).toMatchObject({ result: { content: [{ text: `asked a${n} none Ann` }] } });
    }
  });

  test('ends its session at all of them with one DELETE', async () => {
    const session = await openSession(cluster.url);
    expect((await session.delete()).status).toBe(204);
    for (const { url } of cluster.replicas) {
      const { status } = await send(url, { headers: session.headers, body: rpc('ping') });
      expect(status).toBe(404);
    }
  });

  test('without a session is asked by one gateway and answers at another', async () => {
    for (let n = 0; n < 3; n++) {
      const params = { name: 'ask', arguments: { id: `m${n}` } };
      const first = await send(cluster.url, modern('tools/call', params, elicits));
      const { inputRequests, requestState } = first.json.result as unknown as {
        inputRequests: Record<string, unknown>;
        requestState: string;
      };
      const accepted = { action: 'accept', content: { name: 'Bob' } };
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]));
      const retry = modern('tools/call', { ...params, requestState, inputResponses }, elicits);
      expect(textOf(await send(cluster.url, retry))).toBe(`asked m${n} none Bob`);
    }
  });

  test('without a session is asked by the process of one gateway, and answers at another gateway', async () => {
    for (let n = 0; n < 3; n++) {
      const params = { name: 'probe_elicit', arguments: {} };
      const first = await send(cluster.url, modern('tools/call', params, elicits));
      const { inputRequests, requestState } = first.json.result as unknown as {
        inputRequests: Record<string, unknown>;
        requestState: string;
      };
      const accepted = { action: 'accept', content: { name: 'Eve' } };
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]));
      const retry = modern('tools/call', { ...params, requestState, inputResponses }, elicits);
      expect(textOf(await send(cluster.url, retry))).toBe('Hello, Eve');
    }
  });

  test('opens HTTP+SSE at one gateway and posts to the others', async () => {
    const stream = await openStream(cluster.url.replace(/mcp$/, 'sse'), { method: 'GET' });
    await stream.until('the endpoint', ({ events }) => events.some(({ event }) => event === 'endpoint'));
    const to = new URL(stream.events.find(({ event }) => event === 'endpoint')!.data!, cluster.url).href;
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
    expect((await send(to, { body: rpc('initialize', params, 'i') })).status).toBe(202);
    expect((await send(to, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } })).status).toBe(202);
    const call = rpc('tools/call', { name: 'look', arguments: { id: 'sse' } }, 'c');
    expect((await send(to, { body: call })).status).toBe(202);
    await stream.until('the answer', ({ messages }) => messages.some(({ id }) => id === 'c'));
    expect(stream.messages.find(({ id }) => id === 'c')).toMatchObject({
      result: { content: [{ text: 'look sse none' }] },
    });
    stream.close();
  });

  test('opens HTTP+SSE at a gateway that has just started, and posts to the others at once', async () => {
    for (let n = 0; n < 3; n++) {
      await cluster.kill(0);
      await cluster.restart(0);
      const stream = await openStream(cluster.replicas[0]!.url.replace(/mcp$/, 'sse'), { method: 'GET' });
      await stream.until('the endpoint', ({ events }) => events.some(({ event }) => event === 'endpoint'));
      const path = stream.events.find(({ event }) => event === 'endpoint')!.data!;
      for (const { url } of cluster.replicas) {
        const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
        expect((await send(new URL(path, url).href, { body: notification })).status).toBe(202);
      }
      stream.close();
    }
  });

  test('follows a page link at another gateway than the one that holds the question', async () => {
    const first = await callModern(cluster.url, 'ask', { id: 'page' });
    const link = /https?:\/\/\S+\/ask\S*\?t=[\w.-]+/.exec(textOf(first) ?? '')?.[0];
    expect(link).toBeDefined();
    for (let n = 0; n < 3; n++) expect((await send(link!, { method: 'GET' })).status).toBe(200);
    const altered = link!.replace(/\.[\w-]+$/, '.nobody');
    expect((await send(altered, { method: 'GET' })).status).not.toBe(500);
  });

  test('without a session calls any of them', async () => {
    for (let n = 0; n < 3; n++)
      expect(textOf(await callModern(cluster.url, 'pay', { id: `p${n}` }))).toBe(`pay p${n} none`);
  });
});

describe('the internal port of a gateway', () => {
  test('answers 404 to everything without a grant, and to a grant that is forged, for something else, or old', async () => {
    const session = await openSession(cluster.url);
    const sealer = createSealer(KEYS);
    const at = new HopGrants(sealer, systemClock, 'me');
    for (const { internal, url } of cluster.replicas) {
      const self = await nodeAt(url);
      const asked = { method: 'POST', path: '/mcp' };
      const to = { to: self, clockAhead: 0 };
      const grants = {
        forged: 'x'.repeat(100),
        ofOtherKeys: new HopGrants(createSealer(['another key, which nobody has']), systemClock, 'me').seal(asked, to),
        ofOtherPath: at.seal({ ...asked, path: '/mcp/effects' }, to),
        ofOtherMethod: at.seal({ ...asked, method: 'GET' }, to),
        ofOtherNode: at.seal(asked, { ...to, to: 'somebody' }),
        expired: at.seal(asked, { ...to, clockAhead: -20_000 }),
        tooLong: at.seal(asked, { ...to, clockAhead: 60_000 }),
      };
      for (const grant of Object.values(grants)) {
        const { status } = await send(`${internal}/mcp`, {
          headers: { ...session.headers, 'parley-hop': grant },
          body: rpc('ping'),
        });
        expect(status).toBe(404);
      }
      expect((await send(`${internal}/mcp`, { headers: session.headers, body: rpc('ping') })).status).toBe(404);
      expect((await send(`${internal}/healthz`, { method: 'GET' })).status).toBe(404);
    }
  });

  test('takes a grant once', async () => {
    const owner = await openSession(cluster.replicas[0]!.url);
    const node = owner.headers['mcp-session-id']!.split('.')[1]!;
    const at = new HopGrants(createSealer(KEYS), systemClock, 'me');
    const grant = at.seal({ method: 'POST', path: '/mcp' }, { to: node, clockAhead: 0 });
    const replay = () =>
      send(`${cluster.replicas[0]!.internal}/mcp`, {
        headers: { ...owner.headers, 'parley-hop': grant },
        body: rpc('ping'),
      });
    expect([(await replay()).status, (await replay()).status, (await replay()).status]).toEqual([200, 404, 404]);
  });

  test('an id with the mark of another gateway, or of none, is never the session of somebody else', async () => {
    const sessions = await Promise.all(cluster.replicas.map(({ url }) => openSession(url)));
    const ids = sessions.map(({ headers }) => headers['mcp-session-id']!);
    const marks = [...ids.map((id) => id.split('.')[1]!), 'nobody', ''];
    for (const id of ids)
      for (const mark of marks) {
        const altered = `${id.split('.')[0]}.${mark}`;
        if (altered === id) continue;
        const { status } = await send(cluster.url, { headers: { 'mcp-session-id': altered }, body: rpc('ping') });
        expect(status).toBe(404);
      }
  });
});

/** The name of the gateway at this URL. */
async function nodeAt(url: string): Promise<string> {
  return (await openSession(url)).headers['mcp-session-id']!.split('.')[1]!;
}
