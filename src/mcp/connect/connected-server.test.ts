import { describe, expect, test } from 'vitest';
import { fakeEvents, settled } from '../eras/fake-wire.contract.ts';
import { FakeClock } from '../eras/fake-context.contract.ts';
import { FakeLink, RecordingLog, Refuse, type Responder } from './fake-link.contract.ts';
import { HttpRefusal } from './http/http-refusal.ts';
import { RpcPeer } from './rpc-peer.ts';
import { negotiateConnection } from './negotiate.ts';
import { ConnectedServer, connectServer } from './connected-server.ts';

const initialized = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } };

async function open(respond: Responder, revision = '2025-11-25') {
  const link = new FakeLink(respond, 'streamable-http');
  const options = {
    intro: { info: { name: 'me', version: '1' }, capabilities: {}, revision },
    identity: { info: { name: 'me', version: '1' }, capabilities: {} },
    events: fakeEvents(),
    prefer: 'stateless' as const,
    probeMs: 50,
    async connect() {
      const deadlines = { timeoutMs: 1000, maxTimeoutMs: 10_000 };
      const wire = new RpcPeer(link, { clock: new FakeClock(), log: new RecordingLog(), onClose() {}, ...deadlines });
      await wire.start();
      return wire;
    },
  };
  return {
    link,
    connected: new ConnectedServer(await negotiateConnection({ open: () => link, canReopen: true }, options), options),
  };
}

/** A server that forgets its session whenever the test says so. */
function forgetful(status = 404, body: unknown = '') {
  const state = { session: 0, given: 0 };
  const respond: Responder = ({ method, params }) => {
    if (method === 'initialize') {
      state.session = ++state.given;
      return initialized;
    }
    if (state.session === 0) throw new HttpRefusal(status, body);
    return method === 'tools/call' ? { content: [], session: state.session, params } : {};
  };
  return { state, respond, forget: () => (state.session = 0) };
}

describe('a session that the server has forgotten', () => {
  test('the connection opens a new session and repeats the call when the server has lost the session', async () => {
    const server = forgetful();
    const { link, connected } = await open(server.respond);
    server.forget();
    expect(await connected.call({ method: 'tools/call', params: { name: 'a' } })).toMatchObject({ session: 2 });
    expect(link.methods.slice(2)).toEqual(['tools/call', 'initialize', 'notifications/initialized', 'tools/call']);
  });

  test('a 400 also reports a lost session, as servers modelled on the SDK example do', async () => {
    const said = {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32000, message: 'Bad Request: No valid session ID provided' },
    };
    const server = forgetful(400, said);
    const { connected } = await open(server.respond);
    server.forget();
    expect(await connected.call({ method: 'tools/call' })).toMatchObject({ session: 2 });
  });

  test('concurrent calls that find the session lost open one new session', async () => {
    const server = forgetful();
    const { link, connected } = await open(server.respond);
    server.forget();
    const calls = Array.from({ length: 20 }, () => connected.call({ method: 'tools/call' }));
    for (const result of await Promise.all(calls)) expect(result).toMatchObject({ session: 2 });
    expect(link.methods.filter((method) => method === 'initialize')).toHaveLength(2);
  });

  test('a call that comes while a new session is opened waits for it', async () => {
    const server = forgetful();
    let meanwhile: Promise<unknown> | undefined;
    const { link, connected } = await open((request, of) => {
      if (request.method === 'initialize' && server.state.given > 0)
        meanwhile = Promise.resolve().then(() => connected.call({ method: 'tools/call', params: { name: 'b' } }));
      return server.respond(request, of);
    });
    server.forget();
    expect(await connected.call({ method: 'tools/call', params: { name: 'a' } })).toMatchObject({ session: 2 });
    expect(await meanwhile).toMatchObject({ session: 2, params: { name: 'b' } });
    const after = link.methods.slice(2);
    expect(after).toEqual(['tools/call', 'initialize', 'notifications/initialized', 'tools/call', 'tools/call']);
  });

  test('the new session gets the old log level and subscriptions', async () => {
    const server = forgetful();
    const { link, connected } = await open(server.respond);
    await connected.setLogLevel('debug');
    await connected.subscribe('file:///a');
    await connected.subscribe('file:///b');
    await connected.unsubscribe('file:///b');
    server.forget();
    link.sent.length = 0;
    await connected.call({ method: 'tools/call' });
    const restored = link.requests.filter(
      ({ method }) => method.startsWith('resources/') || method === 'logging/setLevel',
    );
    expect(restored.map(({ method, params }) => [method, params])).toEqual([
      ['resources/subscribe', { uri: 'file:///a' }],
      ['logging/setLevel', { level: 'debug' }],
    ]);
  });

  test('a notification also reopens a lost session', async () => {
    const { state, respond, forget } = forgetful();
    const { link, connected } = await open(respond);
    const send = link.send.bind(link);
    link.send = async (message, options) => {
      if (!('id' in message) && state.session === 0) throw new HttpRefusal(404, '');
      return send(message, options);
    };
    forget();
    await connected.notify('notifications/roots/list_changed');
    expect([state.session, link.methods.at(-1)]).toEqual([2, 'notifications/roots/list_changed']);
  });

  test('a session that is lost again at once is reported, and not opened a third time', async () => {
    const server = forgetful();
    const { link, connected } = await open((request, link) => {
      const answer = server.respond(request, link);
      if (request.method === 'initialize' && server.state.given > 1) server.forget();
      return answer;
    });
    server.forget();
    await expect(connected.call({ method: 'tools/call' })).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
    expect(link.methods.filter((method) => method === 'initialize')).toHaveLength(2);
  });

  test('stateless servers have no session to reopen', async () => {
    const { link, connected } = await open(({ method }) => {
      if (method === 'server/discover') return { supportedVersions: ['2026-07-28'], capabilities: {} };
      throw new HttpRefusal(404, '');
    }, '2026-07-28');
    await expect(connected.call({ method: 'tools/call' })).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
    expect(link.methods).toEqual(['server/discover', 'tools/call']);
  });
});

describe('subscriptions', () => {
  test('subscriptions to one resource reach the server once, and end with the last subscriber', async () => {
    const { link, connected } = await open(forgetful().respond);
    await Promise.all([connected.subscribe('a'), connected.subscribe('a'), connected.subscribe('b')]);
    await connected.unsubscribe('a');
    await connected.unsubscribe('b');
    await connected.unsubscribe('a');
    await connected.unsubscribe('a');
    const told = link.requests.filter(({ method }) => method.startsWith('resources/'));
    expect(told.map(({ method, params }) => `${method} ${String(params?.uri)}`)).toEqual([
      'resources/subscribe a',
      'resources/subscribe b',
      'resources/unsubscribe b',
      'resources/unsubscribe a',
    ]);
  });

  test('a refused subscription can be tried again', async () => {
    let isRefusing = true;
    const { connected } = await open(({ method }) => {
      if (method === 'initialize') return initialized;
      return isRefusing ? new Refuse(-32602, 'no such resource') : {};
    });
    const both = await Promise.allSettled([connected.subscribe('a'), connected.subscribe('a')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isRefusing = false;
    await connected.subscribe('a');
  });
});

describe('opening and closing', () => {
  test('an unknown revision is refused before anything is started', async () => {
    const options = {
      info: { name: 'x', version: '1' },
      capabilities: {},
      events: fakeEvents(),
      revision: '2025-13-01',
    };
    await expect(connectServer({ command: '/nonexistent' }, options)).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message: expect.stringContaining('2025-13-01'),
    });
  });

  test.each([['not a url'], [{ url: 'ftp://x' }], [{ nothing: true }]])('%j is not an address', async (address) => {
    const options = { info: { name: 'x', version: '1' }, capabilities: {}, events: fakeEvents() };
    await expect(connectServer(address as never, options)).rejects.toMatchObject({ code: 'BAD_OPTION' });
  });

  test('closing twice closes once, and later calls are rejected', async () => {
    const { link, connected } = await open(forgetful().respond);
    await Promise.all([connected.close(), connected.close()]);
    expect(link.closes).toBe(1);
    await expect(connected.call({ method: 'tools/call' })).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
  });
});

describe.each([
  ['handshake', '2025-11-25', 'ping'],
  ['stateless', '2026-07-28', 'server/discover'],
])('a server of the %s era that says nothing until a call times out', (_, revision, question) => {
  const discovered = { supportedVersions: ['2026-07-28'], capabilities: {}, resultType: 'complete' };

  async function silent(answers: (method: string) => unknown) {
    const clock = new FakeClock();
    let isOpen = false;
    const closes: string[] = [];
    const methods: string[] = [];
    const respond = (method: string): unknown => {
      if (isOpen) return answers(method);
      return method === 'initialize' ? initialized : discovered;
    };
    const transport = {
      onmessage: (_message: object): void => {},
      ended: 0,
      async start() {},
      async send({ id, method }: { id?: number; method: string }) {
        methods.push(method);
        const answer = id === undefined ? undefined : respond(method);
        if (answer instanceof Refuse) this.onmessage({ jsonrpc: '2.0', id, error: answer.error });
        else if (answer !== undefined) this.onmessage({ jsonrpc: '2.0', id, result: answer });
      },
      async close() {
        this.ended++;
      },
    };
    const connected = await connectServer(transport as never, {
      info: { name: 'me', version: '1' },
      capabilities: {},
      events: fakeEvents(),
      revision,
      clock,
      log: new RecordingLog(),
      timeoutMs: 100,
      limits: { pingMs: 1000 },
      onClose: (reason: string) => void closes.push(reason),
    });
    isOpen = true;
    const call = (): Promise<unknown> =>
      connected.call({ method: 'tools/call', params: { name: 'a' } }).catch((error: unknown) => error);
    return { clock, transport, methods, connected, closes, call };
  }

  test(`is asked by ${question}, and given up with all its calls if it does not answer`, async () => {
    const { clock, transport, methods, closes, call, connected } = await silent(() => undefined);
    const first = call();
    await settled();
    clock.advance(100);
    expect(await first).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    await settled();
    expect(methods.slice(methods.lastIndexOf('tools/call'))).toContain(question);
    const waiting = connected.call({ method: 'tools/call', params: { name: 'b' }, timeoutMs: 9000 });
    waiting.catch(() => {});
    clock.advance(1000);
    await expect(waiting).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
    expect(closes).toEqual(['it hangs: no answer to a ping within 1000 ms after a call had timed out']);
    expect(transport.ended).toBe(1);
    expect(connected.hasServed).toBe(false);
  });

  test.each([
    ['answers', {}],
    ['refuses it', new Refuse(-32601, 'Method not found')],
  ])('is alive if it %s', async (__, answer) => {
    const { clock, closes, call, connected } = await silent((method) => (method === question ? answer : undefined));
    for (let round = 0; round < 3; round++) {
      const calling = call();
      await settled();
      clock.advance(100);
      await calling;
      await settled();
      clock.advance(5000);
    }
    expect(closes).toEqual([]);
    expect(connected.hasServed).toBe(true);
  });
});
