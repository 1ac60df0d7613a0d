import { describe, expect, it } from 'vitest';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { FakeClock } from '../../../mcp/eras/fake-context.contract.ts';
import { CallHabits, OpenCall } from '../questions/open-call.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { ConnectionPoolOptions } from './connection-pool.ts';
import type { SupervisedConnection } from './supervised-connection.ts';

const asked = { elicitation: {} };

function client(
  dialect: ClientView['dialect'],
  capabilities: ClientCapabilities = {},
  principal = 'alice',
): ClientView {
  return { ...SPEAKING[dialect], revision: 'r', info: { name: 'c', version: '1' }, capabilities, principal };
}

function setUp({ share = 'auto', onlyRevision }: Partial<Pick<ConnectionPoolOptions, 'share' | 'onlyRevision'>> = {}) {
  const opened: UpstreamConnection[] = [];
  const retired: UpstreamConnection[] = [];
  const claimed: UpstreamConnection[] = [];
  const resting = new Set<UpstreamConnection>();
  const clock = new FakeClock();
  const connections = new ConnectionPool({
    share,
    onlyRevision,
    clock,
    waitMs: 100,
    maxPool: 8,
    onClaim: (connection) => void claimed.push(connection),
    open: (connection) => {
      opened.push(connection);
      const retire = async () => void retired.push(connection);
      return {
        retire,
        get isLive() {
          return !resting.has(connection);
        },
      } as unknown as SupervisedConnection;
    },
  });
  return { connections, opened, retired, claimed, resting, clock };
}

/** A call on the connection asks, and its user takes some time. */
function ask({ asks }: UpstreamConnection, by: ClientView) {
  let answer: (answer: JsonObject) => void = () => {};
  const ask = asks.counted(() => new Promise<JsonObject>((resolve) => (answer = resolve)));
  const caller = { client: by, ask, isGone: false, mayAsk: true, tell: () => {} };
  const call = Object.assign(new OpenCall(asks, caller), {
    method: 'tools/call',
    subject: 'tool',
    habits: new CallHabits(),
  });
  call.onSent();
  const answered = asks.route({ method: 'elicitation/create', params: {} });
  return { answered, answer: (given: JsonObject) => answer(given) };
}

describe('clients that cannot be asked', () => {
  it('share a connection, whatever their principals', () => {
    const { connections, opened } = setUp();
    const home = connections.home(client('handshake'));
    expect(connections.home(client('handshake', {}, 'bob'))).toBe(home);
    expect(connections.home(client('draft'))).toBe(home);
    expect(home).toMatchObject({ isShared: true, capabilities: {} });
    expect(opened).toEqual([home]);
  });

  it('but not with clients that declare other extensions', () => {
    const { connections } = setUp();
    const ui = { extensions: { 'io.modelcontextprotocol/ui': {} } };
    const home = connections.home(client('handshake', ui));
    expect(home).toMatchObject({ isShared: true, capabilities: ui });
    expect(connections.home(client('handshake'))).not.toBe(home);
    const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }; // of the client's own era
    expect(connections.home(client('stateless', tasks))).toBe(connections.home(client('stateless')));
  });

  it('have no more connections, whatever they declare, than a few', () => {
    const { connections, opened } = setUp();
    const first = client('handshake', { experimental: { number: { at: 0 } } });
    const home = connections.home(first);
    for (let at = 1; at < 1000; at++) connections.home(client('handshake', { experimental: { number: { at } } }));
    expect(opened.length).toBeLessThan(50);
    expect(connections.home(first)).toBe(home);
    const late = client('handshake', { experimental: { number: { at: 1000 } } });
    expect(connections.home(late)).toBe(connections.home(client('handshake')));
    expect(connections.known(late)).toBe(connections.home(late));
  });

  it('clients have their own connections where that is configured', () => {
    const { connections } = setUp({ share: 'session' });
    const one = client('handshake');
    expect(connections.home(one)).toBe(connections.home(one));
    expect(connections.home(client('handshake'))).not.toBe(connections.home(one));
  });
});

it('a connection that clients which can be asked have shared may end with the last of them, and then makes place for another', () => {
  const { connections } = setUp({ share: 'quiet' });
  const plain = connections.home(client('handshake'));
  const [one, two] = [client('handshake', asked), client('handshake', asked)];
  const shared = connections.home(one);
  expect(connections.home(two)).toBe(shared);
  expect([plain, shared].map(({ isShared, supervised }) => [isShared, supervised.isReplaceable])).toEqual([
    [true, false], // the server may keep something for clients that nobody can tell apart
    [true, true],
  ]);
  connections.forget(shared);
  connections.forget(plain);
  expect(connections.home(client('handshake'))).toBe(plain);
  expect(connections.home(two)).not.toBe(shared);
});

it('clients that left without a request do not use up the connections for lists', () => {
  const { connections, resting } = setUp();
  const declaring = (name: string) => client('handshake', { ...asked, extensions: { [name]: {} } });
  for (let count = 0; count < 100; count++) {
    const one = declaring(`x/${count}`);
    resting.add(connections.listing(one));
    connections.drop(one);
  }
  expect(connections.all).toEqual([]);
  expect(connections.listing(declaring('x/last')).capabilities).toMatchObject({ extensions: { 'x/last': {} } });
});

it('a shared connection that others rely on stays when a client leaves', () => {
  const { connections } = setUp();
  const [one, other] = [client('handshake', asked), client('handshake', asked)];
  const lists = connections.listing(one);
  expect(connections.listing(other)).toBe(lists);
  connections.drop(one);
  expect(connections.listing(other)).toBe(lists);
});

describe('clients that are configured to share one connection', () => {
  it('do so whatever they can be asked, and the server is told that they cannot', async () => {
    const { connections, opened } = setUp({ share: 'all' });
    const all = { ...asked, sampling: {}, roots: { listChanged: true } };
    const one = client('handshake', all);
    const home = connections.home(one);
    expect(connections.prepare(one)).toBe(home);
    expect(connections.home(client('handshake', { roots: {} }, 'bob'))).toBe(home);
    expect(connections.listing(client('handshake', asked))).toBe(home);
    expect(connections.known(one)).toBe(home);
    expect(await connections.take(one)).toBe(home);
    expect(home).toMatchObject({ isShared: true, capabilities: {} });
    expect(connections.drop(one)).toBeUndefined();
    expect(opened).toEqual([home]);
  });

  it('have one for each set of other things they declare', () => {
    const { connections } = setUp({ share: 'all' });
    const ui = { extensions: { 'io.modelcontextprotocol/ui': {} } };
    expect(connections.home(client('handshake', { ...ui, ...asked })).capabilities).toEqual(ui);
  });
});

describe('a handshake client that can be asked', () => {
  it('has a connection of its own, with just its capabilities, until it is gone', () => {
    const { connections } = setUp();
    const one = client('handshake', { ...asked, roots: { listChanged: true }, tasks: { list: {} } });
    const home = connections.home(one);
    expect(home.capabilities).toEqual({ ...asked, roots: { listChanged: true } });
    expect(connections.known(one)).toBe(home);
    expect(connections.home(client('handshake', asked))).not.toBe(home);
    expect(connections.drop(one)).toBe(home);
    expect(connections.known(one)).toBeUndefined();
  });

  it('shares one for lists with all that declare the same, until it calls, and again while its own one rests', () => {
    const { connections, opened, claimed, resting } = setUp();
    const [one, other] = [client('handshake', asked), client('handshake', asked, 'bob')];
    const lists = connections.listing(one);
    expect(connections.listing(other)).toBe(lists);
    expect(connections.homeOf({ method: 'tools/list', client: one })).toBe(lists);
    expect(lists).toMatchObject({ isShared: true, capabilities: asked });
    const own = connections.homeOf({ method: 'tools/call', client: one });
    expect(own).not.toBe(lists);
    expect(claimed).toEqual([own]);
    expect(connections.listing(one)).toBe(own);
    expect(connections.known(other)).toBe(lists);
    resting.add(own);
    expect(connections.known(one)).toBe(lists);
    expect(connections.home(one)).toBe(own);
    expect(opened).toHaveLength(2);
  });

  it('the only client takes over the connection that it has shared with no other', () => {
    const { connections, opened } = setUp();
    const one = client('handshake', asked);
    const lists = connections.listing(one);
    expect(connections.home(one)).toBe(lists);
    expect(lists.principal).toBe('alice');
    const other = client('handshake', asked, 'bob');
    const others = connections.listing(other);
    expect(others).not.toBe(lists);
    expect(connections.home(other)).not.toBe(others); // others will come for lists
    expect(opened).toHaveLength(3);
  });

  it('a client does not take over a connection whose server got an answer for no client', () => {
    const { connections } = setUp();
    const one = client('handshake', asked);
    const lists = connections.listing(one);
    lists.isForNobody = true;
    expect(connections.home(one)).not.toBe(lists);
  });

  it('is not made to wait for one of its calls by another', async () => {
    const { connections } = setUp();
    const one = client('handshake', asked);
    expect(await connections.take(one)).toBe(await connections.take(one));
  });
});

describe('stateless clients that can be asked', () => {
  it('have a connection per principal and set of capabilities', () => {
    const { connections } = setUp();
    const home = connections.home(client('stateless', { ...asked, roots: { listChanged: true } }));
    expect(home.capabilities).toEqual({ ...asked, roots: {} }); // nobody could tell of changes
    expect(connections.home(client('stateless', { ...asked, roots: {} }))).toBe(home);
    expect(connections.home(client('stateless', asked))).not.toBe(home);
    expect(connections.home(client('stateless', { ...asked, roots: {} }, 'bob'))).not.toBe(home);
  });

  it('take one for each call that must be alone, up to a number; later ones wait for it', async () => {
    const { connections, opened } = setUp();
    const caller = () => client('stateless', asked);
    const taken = await Promise.all(Array.from({ length: 8 }, async () => connections.take(caller())));
    expect(new Set(taken).size).toBe(8);
    expect(connections.home(caller())).toBe(taken[0]);
    const waiting = connections.take(caller());
    connections.giveBack(taken[3]!);
    expect(await waiting).toBe(taken[3]);
    connections.giveBack(taken[5]!);
    expect(await connections.take(caller())).toBe(taken[5]);
    expect(opened).toHaveLength(8);
  });

  it('wait for no call whose question is open', async () => {
    const { connections, opened } = setUp();
    const caller = () => client('stateless', asked);
    const taken = await Promise.all(Array.from({ length: 8 }, async () => connections.take(caller())));
    const waiting = connections.take(caller());
    const { answer, answered } = ask(taken[2]!, caller());
    expect(taken).not.toContain(await waiting);
    expect(opened).toHaveLength(9);
    answer({ action: 'decline' });
    await answered;
    expect(connections.take(caller())).toBeInstanceOf(Promise); // all nine are at work
  });

  it('that are known not to ask wait for nothing', async () => {
    const { connections, opened } = setUp();
    for (let count = 0; count < 8; count++) await connections.take(client('stateless', asked));
    const shared = connections.take(client('stateless', asked), true);
    expect(shared).toMatchObject({ isShared: true, capabilities: asked });
    expect(connections.take(client('stateless', asked), true)).toBe(shared);
    expect(opened).toHaveLength(9);
  });

  it('wait all the same where clients never share', async () => {
    const { connections, opened } = setUp({ share: 'session' });
    const taken = await Promise.all(
      Array.from({ length: 8 }, async () => connections.take(client('stateless', asked))),
    );
    const quiet = connections.take(client('stateless', asked), true);
    connections.giveBack(taken[1]!);
    expect(await quiet).toBe(taken[1]);
    expect(opened).toHaveLength(8);
  });

  it('connections that are unused for long are forgotten, unless a call waits for them', async () => {
    const { connections, opened } = setUp();
    const caller = client('stateless', asked);
    const taken = await connections.take(caller);
    connections.forget(taken);
    expect(connections.known(caller)).toBe(taken);
    connections.giveBack(taken);
    connections.forget(taken);
    expect(connections.all).toEqual([]);
    expect(connections.home(caller)).not.toBe(taken);
    expect(opened).toHaveLength(2);
  });

  it('do not wait for ever', async () => {
    const { connections, clock } = setUp();
    for (let count = 0; count < 8; count++) await connections.take(client('stateless', asked));
    const late = connections.take(client('stateless', asked));
    clock.advance(100);
    await expect(late).rejects.toMatchObject({ code: 'TOO_MANY', details: { limit: 'maxPool' } });
  });
});

describe('a connection that was prepared', () => {
  it('is the one that the client will have its lists from, and its own if it is the only one', () => {
    const { connections, opened } = setUp();
    const opening = { ...SPEAKING.handshake, capabilities: asked } as const;
    const prepared = connections.prepare(opening);
    expect(connections.prepare(opening)).toBe(prepared);
    expect(prepared.asks.isExpecting).toBe(true);
    const first = client('handshake', asked);
    expect(connections.listing(first)).toBe(prepared);
    expect(connections.home(first)).toBe(prepared);
    expect(prepared.principal).toBe('alice');
    expect(connections.home(client('handshake', asked))).not.toBe(prepared);
    expect(connections.prepare(opening).asks.isExpecting).toBe(false);
    expect(opened).toHaveLength(3);
  });

  it('is of the handshake era where nothing is known of the client', () => {
    const { connections } = setUp();
    const prepared = connections.prepare(undefined);
    expect(prepared.era).toBe('handshake');
    expect(connections.home(client('handshake'))).toBe(prepared);
    expect(connections.prepare({ ...SPEAKING.stateless, capabilities: {} })).not.toBe(prepared);
  });
});

describe('a server that has both eras', () => {
  it('is spoken to in the era of each client', () => {
    const { connections, retired } = setUp();
    const handshake = connections.home(client('handshake'));
    const stateless = connections.home(client('stateless'));
    expect([handshake.era, stateless.era]).toEqual(['handshake', 'stateless']);
    connections.learn(handshake, { ...SPEAKING.handshake });
    connections.learn(stateless, { ...SPEAKING.stateless });
    expect(connections.home(client('draft'))).toBe(handshake);
    expect(connections.home(client('stateless', asked, 'bob'))).toBe(stateless);
    expect(connections.eraFor({ ...SPEAKING.draft })).toBe('handshake');
    expect(connections.all).toEqual([handshake, stateless]);
    expect(retired).toEqual([]);
  });
});

describe('a server that has the handshake era only', () => {
  it('serves stateless clients, too, by what they have opened', () => {
    const { connections, opened } = setUp();
    const one = connections.listing(client('stateless'));
    connections.learn(one, { ...SPEAKING.handshake });
    expect(one.era).toBe('handshake');
    expect(connections.eraFor({ ...SPEAKING.stateless })).toBe('handshake');
    expect(connections.home(client('handshake'))).toBe(one);
    expect(connections.listing(client('stateless', {}, 'bob'))).toBe(one);
    expect(opened).toEqual([one]);
  });

  it('needs no second connection of the same kind', () => {
    const { connections, retired } = setUp();
    const [handshake, stateless] = [connections.home(client('handshake')), connections.home(client('stateless'))];
    const own = connections.home(client('stateless', asked));
    connections.learn(stateless, { ...SPEAKING.handshake });
    expect(retired).toEqual([stateless]);
    expect(connections.home(client('stateless'))).toBe(handshake);
    expect(connections.home(client('stateless', asked))).toBe(own);
    connections.learn(own, { ...SPEAKING.handshake }); // was on its way
    expect(connections.all).toEqual([handshake, own]);
  });
});

describe('a server that learns with each call who calls', () => {
  it('has one connection for all; others that were on their way are given up', () => {
    const { connections, retired } = setUp();
    const asking = client('handshake', asked);
    const own = connections.home(asking);
    const others = [connections.prepare(undefined), connections.home(client('stateless'))];
    connections.learn(own, { ...SPEAKING.stateless });
    expect(new Set(retired)).toEqual(new Set(others));
    expect(connections.all).toEqual([own]);
    expect(own).toMatchObject({ isShared: true, era: 'stateless' });
    for (const dialect of ['handshake', 'stateless', 'draft'] as const) {
      expect(connections.home(client(dialect, asked))).toBe(own);
      expect(connections.known(client(dialect))).toBe(own);
    }
    expect(connections.prepare({ ...SPEAKING.handshake, capabilities: asked })).toBe(own);
  });

  it.each(['handshake', 'stateless'] as const)(
    'keeps a connection that is not closed where clients of both eras came at once and that of the %s client is ready first',
    (first) => {
      const { connections, retired } = setUp();
      const opened = { handshake: connections.prepare(undefined), stateless: connections.home(client('stateless')) };
      connections.learn(opened[first], { ...SPEAKING.stateless });
      connections.learn(opened[first === 'handshake' ? 'stateless' : 'handshake'], { ...SPEAKING.stateless });
      expect(connections.all).toHaveLength(1);
      const [kept] = connections.all;
      expect(retired).toEqual(Object.values(opened).filter((one) => one !== kept));
      expect([connections.home(client('handshake')), connections.home(client('stateless'))]).toEqual([kept, kept]);
    },
  );

  it('may have been one of the other era before', () => {
    const { connections } = setUp();
    const home = connections.home(client('stateless'));
    connections.learn(home, { ...SPEAKING.handshake });
    connections.learn(home, { ...SPEAKING.stateless });
    expect(connections.eraFor({ ...SPEAKING.handshake })).toBe('stateless');
    expect(connections.home(client('handshake', asked))).toBe(home);
  });
});

describe('an era that is configured', () => {
  it('is spoken for all clients', () => {
    const { connections } = setUp({ onlyRevision: { era: 'handshake' } });
    expect(connections.home(client('stateless')).era).toBe('handshake');
    expect(connections.home(client('handshake'))).toBe(connections.home(client('stateless')));
    const pinned = setUp({ onlyRevision: { revision: '2026-07-28' } });
    expect(pinned.connections.home(client('handshake')).era).toBe('stateless');
  });
});

describe('a principal that declares something else each time', () => {
  const declaring = (at: number) => client('stateless', { ...asked, experimental: { number: { at } } });

  it('has a few connections all the same, and no other’s', () => {
    const { connections, opened } = setUp();
    const others = connections.home(client('stateless', asked, 'bob'));
    const home = connections.home(declaring(0));
    for (let at = 1; at < 1000; at++) connections.home(declaring(at));
    expect(opened.length).toBeLessThan(20);
    expect(connections.home(declaring(0))).toBe(home);
    expect(connections.home(declaring(1000))).not.toBe(others);
    expect(connections.known(declaring(1000))).toBe(connections.home(declaring(1000)));
  });

  it('has a few for calls that ask, too, and gets them back', async () => {
    const { connections, opened } = setUp();
    for (let at = 0; at < 1000; at++) connections.giveBack(await connections.takeAlone(declaring(at)));
    expect(opened.length).toBeLessThan(20);
  });
});
