import { describe, expect, test } from 'vitest';
import type { RequestMessage } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { fakeEvents, settled } from '../eras/fake-wire.contract.ts';
import { FakeClock } from '../eras/fake-context.contract.ts';
import type { SpokenEra } from '../../kernel/era/era.ts';
import type { OnlyRevision } from '../eras/revisions.ts';
import type { Route } from './route.ts';
import { FakeLink, RecordingLog, Refuse, type Responder } from './fake-link.contract.ts';
import { HttpRefusal } from './http/http-refusal.ts';
import type { Link } from './links/link.ts';
import { RpcPeer } from './rpc-peer.ts';
import { negotiateConnection } from './negotiate.ts';

const discovered = { supportedVersions: ['2026-07-28'], capabilities: {} };
const initialized = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } };
const probeMs = 50;
const timeoutMs = 1000;

/** A server of the handshake era that knows nothing else. */
const legacy: Responder = ({ method }) => (method === 'initialize' ? initialized : new Refuse(-32601));
const modern: Responder = ({ method }) => (method === 'server/discover' ? discovered : new Refuse(-32601));

interface Given extends OnlyRevision {
  kind?: Link['kind'];
  canReopen?: boolean;
  fallback?: { respond: Responder; startError?: Error };
  prefer?: SpokenEra;
}

/** One link per responder, opened one after the other. */
function setUp(responders: Responder[], given: Given = {}) {
  const { revision, era, kind, canReopen = true, fallback, prefer = 'stateless' } = given;
  const links: FakeLink[] = [];
  const clock = new FakeClock();
  const open = (): Link => {
    const link = new FakeLink(responders[links.length] ?? responders.at(-1), kind);
    links.push(link);
    return link;
  };
  const older = new FakeLink(fallback?.respond, 'http+sse');
  older.startError = fallback?.startError;
  const route: Route = { open, canReopen, ...(fallback && { fallback: { open: () => older, canReopen: true } }) };
  const connected = negotiateConnection(route, {
    intro: { info: { name: 'me', version: '1' }, capabilities: {}, revision, era },
    identity: { info: { name: 'me', version: '1' }, capabilities: {} },
    events: fakeEvents(),
    prefer: prefer,
    probeMs,
    async connect(link) {
      const wire = new RpcPeer(link, {
        clock,
        log: new RecordingLog(),
        timeoutMs,
        maxTimeoutMs: 10_000,
        onClose() {},
      });
      await wire.start();
      return wire;
    },
  });
  connected.catch(() => {}); // looked at later
  return { links, clock, connected, older };
}

const spoken = async ({ connected }: { connected: ReturnType<typeof negotiateConnection> }) => {
  const { speaker } = await connected;
  return `${speaker.server.dialect} ${speaker.server.revision}`;
};

describe('on a shared channel', () => {
  test('a server of the new era gets a single request', async () => {
    const t = setUp([modern]);
    expect(await spoken(t)).toBe('stateless 2026-07-28');
    expect(t.links[0]?.methods).toEqual(['server/discover']);
  });

  test('a server that refuses the probe is initialized', async () => {
    const t = setUp([legacy]);
    expect(await spoken(t)).toBe('handshake 2025-11-25');
    expect(t.links[0]?.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
  });

  test('a server that dies of the probe is restarted once and initialized', async () => {
    const dies: Responder = (_, link) => link.die();
    const t = setUp([dies, legacy]);
    expect(await spoken(t)).toBe('handshake 2025-11-25');
    expect(t.links.map(({ methods }) => methods)).toEqual([
      ['server/discover'],
      ['initialize', 'notifications/initialized'],
    ]);
  });

  test('a server that refuses the probe and then exits is restarted too', async () => {
    const leaves: Responder = ({ method }, link) => (method === 'initialize' ? link.die() : new Refuse(-32600));
    const t = setUp([leaves, legacy]);
    expect(await spoken(t)).toBe('handshake 2025-11-25');
    expect(t.links[1]?.methods).toEqual(['initialize', 'notifications/initialized']);
  });

  test('a server that dies again is reported with its stderr, and not started a third time', async () => {
    const t = setUp([(_, link) => link.die('exit code 1; stderr: no config')]);
    await expect(t.connected).rejects.toMatchObject({
      code: 'UPSTREAM_CLOSED',
      message: expect.stringContaining('no config'),
    });
    expect(t.links.map(({ closes }) => closes > 0)).toEqual([true, true]);
  });

  test('the restarted server is closed too when it cannot be initialized', async () => {
    const t = setUp([(_, link) => link.die(), () => new Refuse(-32000, 'not today')]);
    await expect(t.connected).rejects.toThrow('not today');
    expect(t.links.map(({ closes }) => closes > 0)).toEqual([true, true]);
  });

  test('a server that cannot be opened twice is reported as closed', async () => {
    const t = setUp([(_, link) => link.die()], { canReopen: false });
    await expect(t.connected).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
    expect(t.links).toHaveLength(1);
  });

  test('a silent server is initialized without a cancellation of the probe', async () => {
    const t = setUp([({ method }) => (method === 'initialize' ? initialized : undefined)]);
    await settled();
    t.clock.advance(probeMs);
    expect(await spoken(t)).toBe('handshake 2025-11-25');
    expect(t.links[0]?.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
  });

  test('a late answer to the probe changes nothing', async () => {
    const t = setUp([({ method }) => (method === 'initialize' ? initialized : undefined)]);
    await settled();
    t.clock.advance(probeMs);
    t.links[0]?.say({ jsonrpc: '2.0', id: 1, result: discovered });
    expect(await spoken(t)).toBe('handshake 2025-11-25');
  });

  test('a slow server that knows only the new era is probed again', async () => {
    let isAwake = false;
    const slow: Responder = (request, link) => (isAwake ? modern(request, link) : undefined);
    const t = setUp([slow]);
    await settled();
    isAwake = true;
    t.clock.advance(probeMs);
    expect(await spoken(t)).toBe('stateless 2026-07-28');
    expect(new Set(t.links[0]?.methods)).toEqual(new Set(['server/discover', 'initialize']));
  });

  test('a slow server that dies of the probe is restarted', async () => {
    const t = setUp([({ method }, link) => (method === 'initialize' ? link.die() : undefined), legacy]);
    await settled();
    t.clock.advance(probeMs);
    expect(await spoken(t)).toBe('handshake 2025-11-25');
    expect(t.links).toHaveLength(2);
  });

  test('a server that never answers is given up and closed', async () => {
    const t = setUp([() => undefined]);
    await settled();
    t.clock.advance(probeMs);
    await settled();
    t.clock.advance(timeoutMs);
    await expect(t.connected).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT', details: { method: 'initialize' } });
    expect(t.links[0]?.closes).toBe(1);
  });

  test('an unsupported counter-offer ends the negotiation', async () => {
    const t = setUp([
      ({ method }) =>
        method === 'initialize' ? { ...initialized, protocolVersion: '2020-01-01' } : new Refuse(-32601),
    ]);
    await expect(t.connected).rejects.toMatchObject({ code: 'NO_COMMON_VERSION' });
    expect([t.links[0]?.methods, t.links[0]?.closes]).toEqual([['server/discover', 'initialize'], 1]);
  });
});

describe('a pinned revision', () => {
  test('a pinned handshake revision is not preceded by a probe', async () => {
    const t = setUp([legacy], { revision: '2025-11-25' });
    await t.connected;
    expect(t.links[0]?.methods).toEqual(['initialize', 'notifications/initialized']);
  });

  test('a pinned stateless revision never falls back to a handshake', async () => {
    const t = setUp([legacy], { revision: '2026-07-28' });
    await expect(t.connected).rejects.toMatchObject({ code: 'NO_COMMON_VERSION' });
    expect([t.links[0]?.methods, t.links[0]?.closes]).toEqual([['server/discover'], 1]);
  });

  test('with a pinned stateless revision, a server that dies is not restarted', async () => {
    const t = setUp([(_, link) => link.die()], { revision: '2026-07-28' });
    await expect(t.connected).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
    expect(t.links).toHaveLength(1);
  });
});

describe('a pinned era', () => {
  const both: Responder = (request, link) => (request.method === 'initialize' ? legacy : modern)(request, link);

  test.each([
    ['handshake', 'initialize', '2025-11-25'],
    ['stateless', 'server/discover', '2026-07-28'],
  ] as const)('%s is the only one that a server of both is asked for', async (era, first, revision) => {
    const t = setUp([both], { era });
    expect((await t.connected).speaker.server).toMatchObject({ dialect: era, revision });
    expect(t.links[0]?.methods[0]).toBe(first);
    expect(t.links[0]?.methods.includes('server/discover')).toBe(era === 'stateless');
  });

  test('handshake takes whichever of its revisions the server answers with', async () => {
    const older: Responder = () => ({ ...initialized, protocolVersion: '2024-11-05' });
    const { speaker } = await setUp([older], { era: 'handshake' }).connected;
    expect(speaker.server.revision).toBe('2024-11-05');
  });

  test.each(['handshake', 'draft', 'stateless'] as const)('%s is not given up for another', async (era) => {
    const responders = { handshake: modern, draft: legacy, stateless: legacy };
    const t = setUp([responders[era]], { era });
    await expect(t.connected).rejects.toThrow();
    expect(t.links).toHaveLength(1);
  });

  test('handshake is not given up for the draft dialect', async () => {
    const draft = { server: { name: 'd', version: '1' }, serverCapabilities: {} };
    for (const answer of [draft, { ...draft, protocolVersion: 'x' }]) {
      await expect(setUp([() => answer], { era: 'handshake' }).connected).rejects.toMatchObject({
        code: 'NO_COMMON_VERSION',
      });
    }
  });
});

describe('on HTTP', () => {
  const refuse = (status: number, body: unknown = '') => {
    throw new HttpRefusal(status, body);
  };
  const rpc = (code: number) => ({ jsonrpc: '2.0', id: 1, error: { code, message: 'no' } });
  const kind = 'streamable-http';

  test.each([400, 404, 405, 406, 415])('%i to both openings leads to the oldest transport', async (status) => {
    const t = setUp([() => refuse(status)], { kind, fallback: { respond: legacy } });
    expect((await t.connected).link.kind).toBe('http+sse');
    expect(t.links[0]?.methods).toEqual(['server/discover', 'initialize']);
    expect(t.links[0]?.closes).toBe(1);
  });

  test('404 with method not found is of JSON-RPC: it leads to the handshake and never to the oldest transport', async () => {
    const answers: Responder = (request: RequestMessage) =>
      request.method === 'initialize' ? initialized : refuse(404, rpc(-32601));
    const t = setUp([answers], { kind, fallback: { respond: legacy } });
    expect((await t.connected).link.kind).toBe(kind);
    const neither = setUp([() => refuse(404, rpc(-32601))], { kind, fallback: { respond: legacy } });
    await expect(neither.connected).rejects.toMatchObject({ code: -32601 });
    expect(neither.older.sent).toEqual([]);
  });

  test.each([401, 403, 500])('HTTP %i is reported as it is, and nothing else is tried', async (status) => {
    const t = setUp([() => refuse(status)], { kind, fallback: { respond: legacy } });
    await expect(t.connected).rejects.toBeInstanceOf(GatewayError);
    expect([t.links[0]?.methods, t.older.sent]).toEqual([['server/discover'], []]);
  });

  test.each([
    ['refused too', new HttpRefusal(404, '')],
    ['no event stream', new GatewayError('UPSTREAM_INVALID', { server: 'x', reason: 'text/html came' })],
  ])('when the oldest transport is %s, what the newer one said is told', async (_, startError) => {
    const t = setUp([() => refuse(405)], { kind, fallback: { respond: legacy, startError } });
    await expect(t.connected).rejects.toThrow('HTTP 405');
  });

  test('when a server answers on the oldest transport, its error is reported', async () => {
    const t = setUp([() => refuse(405)], {
      kind,
      fallback: { respond: () => new Refuse(-32000, 'closed on Sundays') },
    });
    await expect(t.connected).rejects.toThrow('closed on Sundays');
  });

  test('later requests carry the agreed version, and the stream for unsolicited messages is opened', async () => {
    const t = setUp([legacy], { kind });
    await t.connected;
    expect([t.links[0]?.headers, t.links[0]?.listens]).toEqual([[{ 'mcp-protocol-version': '2025-11-25' }], 1]);
  });

  test('silence on HTTP is an outage, not evidence about eras', async () => {
    const t = setUp([() => undefined], { kind });
    await settled();
    t.clock.advance(timeoutMs);
    await expect(t.connected).rejects.toMatchObject({
      code: 'UPSTREAM_TIMEOUT',
      details: { method: 'server/discover' },
    });
    expect(t.links[0]?.methods).toEqual(['server/discover']);
  });

  test('a 503 before an answer means that the server was starting', async () => {
    const t = setUp([() => refuse(503), modern], { kind });
    expect(await spoken(t)).toBe('stateless 2026-07-28');
    expect(t.links.map(({ closes }) => closes)).toEqual([1, 0]);
  });
});

describe('the handshake era first', () => {
  const both: Responder = (request, link) => (request.method === 'initialize' ? initialized : modern(request, link));

  test('is all that is sent to a server that has it', async () => {
    for (const server of [legacy, both]) {
      const { links, connected } = setUp([server], { prefer: 'handshake' });
      expect((await connected).speaker.server.dialect).toBe('handshake');
      expect(links[0]!.methods).toEqual(['initialize', 'notifications/initialized']);
    }
  });

  test('is followed by the other where it is refused', async () => {
    const { links, connected } = setUp([modern], { prefer: 'handshake' });
    expect((await connected).speaker.server.dialect).toBe('stateless');
    expect(links).toHaveLength(1);
    expect(links[0]!.methods.at(-1)).toBe('server/discover');
  });

  test('a URL that answers neither is tried with the older transport', async () => {
    const gone: Responder = () => {
      throw new HttpRefusal(404, '');
    };
    const given = { kind: 'streamable-http', prefer: 'handshake', fallback: { respond: legacy } } as const;
    const { connected, older } = setUp([gone], given);
    expect((await connected).speaker.server.dialect).toBe('handshake');
    expect(older.methods).toEqual(['initialize', 'notifications/initialized']);
  });

  test.each([401, 403, 429, 500])('is not given up for HTTP %i, which says nothing about eras', async (status) => {
    const busy: Responder = () => {
      throw new HttpRefusal(status, '');
    };
    const { links, connected } = setUp([busy], { kind: 'streamable-http', prefer: 'handshake' });
    await expect(connected).rejects.toMatchObject({ details: { status } });
    expect(links.every((link) => link.methods.every((method) => method === 'initialize'))).toBe(true);
  });

  test('what a server says to a handshake counts, when it has nothing to say to the other', async () => {
    const { connected } = setUp([() => new Refuse(-32602, 'not today')], { prefer: 'handshake' });
    await expect(connected).rejects.toMatchObject({ code: -32602, message: 'not today' });
  });
});
