// A body that uses a connection which a step has opened: async hooks see nothing new then.
import { Agent, createServer, get, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { once } from 'node:events';
import { request as undiciRequest, Pool } from 'undici';
import WebSocket, { WebSocketServer } from 'ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import { createLog } from '../../kernel/base/log.ts';
import { testFlow } from '../../testing/test-flow.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';

const posts: string[] = [];
const server = createServer((incoming, response) => {
  if (incoming.method === 'POST') posts.push(incoming.url!);
  incoming.resume().on('end', () => response.end('{}'));
});
const sockets = new WebSocketServer({ server });
const agent = new Agent({ keepAlive: true });
let url = '';
let pool: Pool;
let socket: WebSocket;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  pool = new Pool(url);
  socket = new WebSocket(url.replace('http', 'ws'));
  await once(socket, 'open');
});
afterAll(async () => {
  socket.terminate();
  sockets.close();
  agent.destroy();
  await pool.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void posts.splice(0));

const sent = (path: string) =>
  new Promise<void>((resolve, reject) => {
    const options = { method: 'POST', agent };
    request(`${url}${path}`, options, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end('{}');
  });

/** Each of them once in a step, so that its connection is open, and then in the body. */
const WAYS: Record<string, (path: string) => Promise<unknown>> = {
  fetch: async (path) => (await fetch(`${url}${path}`, { method: 'POST', body: '{}' })).text(),
  'fetch without a body': async (path) => (await fetch(`${url}${path}`, { method: 'POST' })).text(),
  'http.request': sent,
  'http.get': (path) =>
    new Promise((resolve) => get(`${url}${path}`, { agent }, (got) => got.resume().on('end', resolve))),
};
const PACKAGES: Record<string, (path: string) => Promise<unknown>> = {
  'undici.request': async (path) => (await undiciRequest(`${url}${path}`, { method: 'POST', body: '{}' })).body.text(),
  'a pool of undici': async (path) => (await pool.request({ path, method: 'POST', body: '{}' })).body.text(),
  'an open WebSocket': async (path) => socket.send(path),
};

const paying = (pay: (path: string) => Promise<unknown>) => async (ask: Ask) => {
  for (const nth of ['first', 'second'] as const) await ask.step(nth, async () => void (await pay('/step')));
  const sum = await ask.number('sum');
  await pay('/body');
  return `paid ${sum}`;
};

describe('a body that sends on a warm connection', () => {
  it.each(Object.keys(WAYS))('is stopped by testFlow before anything is sent: %s', async (way) => {
    const played = await testFlow(flow({ name: 'pay' }, paying(WAYS[way]!))).answer({ sum: 7 });
    expect(played.failure?.name).toBe('FLOW_UNJOURNALED');
    expect(played.failure?.message).toMatch(/warm-connections\.test\.ts:\d+/);
    expect(posts).not.toContain('/body');
  });

  it.each(Object.keys(PACKAGES))('is noticed by testFlow: %s', async (way) => {
    const played = await testFlow(flow({ name: 'pay' }, paying(PACKAGES[way]!))).answer({ sum: 7 });
    expect(played.failure?.name).toBe('FLOW_UNJOURNALED');
  });

  it.each(Object.keys({ ...WAYS, ...PACKAGES }))('is noticed by a server in development: %s', async (way) => {
    const body = paying({ ...WAYS, ...PACKAGES }[way]!);
    const log = createLog({ level: 'silent' });
    const sessions = new Sessions([flow({ name: 'pay' }, body)], { checks: 'throw', log });
    const { header } = await settled(await sessions.start({ principal: 'me', tool: 'pay' }));
    const answers = [{ promptId: 'sum~1', value: 7 }];
    const turn = await settled(await sessions.answer({ principal: 'me', sessionId: header.id, answers }));
    expect(turn.failure?.name).toBe('FLOW_UNJOURNALED');
    await sessions.close();
  });

  it('may use them in steps, and so may other code while the body waits', async () => {
    const body = async (ask: Ask) => {
      for (const [key, way] of Object.entries({ ...WAYS, ...PACKAGES })) {
        await ask.scope(key).step('send', async () => void (await way('/step')));
      }
      return 'sent';
    };
    const played = testFlow(flow({ name: 'pay' }, body)).answer({});
    await WAYS['fetch']!('/beside');
    expect((await played).result).toBe('sent');
    expect(posts).toContain('/beside');
  });

  it('may print', async () => {
    const body = async (ask: Ask) => {
      process.stderr.write('');
      // oxlint-disable-next-line no-console -- looking for a mistake is not a mistake
      console.error('');
      return ask.text('city');
    };
    expect((await testFlow(flow({ name: 'x' }, body)).answer({ city: 'Rome' })).result).toBe('Rome');
  });
});

it('a socket of one’s own that is open already is noticed, too', async () => {
  const own = connect(Number(new URL(url).port), '127.0.0.1');
  await once(own, 'connect');
  const body = async (ask: Ask) => {
    own.write('POST /body HTTP/1.1\r\n');
    return ask.text('city');
  };
  expect((await testFlow(flow({ name: 'x' }, body)).answer({ city: 'Rome' })).failure?.name).toBe('FLOW_UNJOURNALED');
  own.destroy();
});
