import { describe, expect, it } from 'vitest';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../protocol/exchange.ts';
import { FakeClock } from '../dialect/fake-front.contract.ts';
import type { Connection } from './connection.ts';
import { Connections } from './connections.ts';
import type { ConnectionsOptions } from './connections.ts';
import type { Supervised } from './supervised.ts';

const asked = { elicitation: {} };

function client(
  dialect: ClientView['dialect'],
  capabilities: ClientCapabilities = {},
  principal = 'alice',
): ClientView {
  return { dialect, revision: 'r', info: { name: 'c', version: '1' }, capabilities, principal };
}

function setUp({ share = 'auto' }: { share?: ConnectionsOptions['share'] } = {}) {
  const opened: Connection[] = [];
  const retired: Connection[] = [];
  const clock = new FakeClock();
  const connections = new Connections({
    share,
    clock,
    waitMs: 100,
    maxPool: 8,
    open: (connection) => {
      opened.push(connection);
      return { retire: async () => void retired.push(connection) } as unknown as Supervised;
    },
  });
  return { connections, opened, retired, clock };
}

describe('clients that cannot be asked', () => {
  it('share a connection, whoever they are', () => {
    const { connections, opened } = setUp();
    const home = connections.home(client('handshake'));
    expect(connections.home(client('stateless', {}, 'bob'))).toBe(home);
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
    expect(connections.home(client('stateless', tasks))).toBe(connections.home(client('handshake')));
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

  it('have their own where that is wished', () => {
    const { connections } = setUp({ share: 'session' });
    const one = client('handshake');
    expect(connections.home(one)).toBe(connections.home(one));
    expect(connections.home(client('handshake'))).not.toBe(connections.home(one));
  });
});

describe('clients that share one connection by wish', () => {
  it('do so whatever they can be asked, and the server is told that they cannot', async () => {
    const { connections, opened } = setUp({ share: 'all' });
    const all = { ...asked, sampling: {}, roots: { listChanged: true } };
    const one = client('handshake', all);
    const home = connections.home(one);
    expect(connections.prepare(one)).toBe(home);
    expect(connections.home(client('handshake', { roots: {} }, 'bob'))).toBe(home);
    expect(connections.home(client('stateless', asked))).toBe(home);
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

  it('that were not used for long are forgotten, unless somebody is about to', async () => {
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
  it('is claimed by the first client of its kind', () => {
    const { connections, opened } = setUp();
    const prepared = connections.prepare({ dialect: 'handshake', capabilities: asked });
    expect(connections.prepare({ dialect: 'handshake', capabilities: asked })).toBe(prepared);
    expect(prepared).toMatchObject({ principal: '', isShared: false });
    expect(connections.home(client('stateless', asked))).not.toBe(prepared);
    const first = client('handshake', asked);
    expect(connections.home(first)).toBe(prepared);
    expect(prepared.principal).toBe('alice');
    expect(connections.home(client('handshake', asked))).not.toBe(prepared);
    expect(opened).toHaveLength(3);
  });

  it('is the one that is shared where the client cannot be asked, or is not known', () => {
    const { connections } = setUp();
    const prepared = connections.prepare(undefined);
    expect(connections.prepare({ dialect: 'stateless', capabilities: {} })).toBe(prepared);
    expect(connections.home(client('handshake'))).toBe(prepared);
  });
});

describe('a server that is told with each call who calls', () => {
  it('has one connection for all; others that were on their way are given up', () => {
    const { connections, retired } = setUp();
    const asking = client('handshake', asked);
    const own = connections.home(asking);
    const other = connections.prepare(undefined);
    connections.learn(own, true);
    expect(retired).toEqual([other]);
    expect(connections.all).toEqual([own]);
    expect(own.isShared).toBe(true);
    for (const dialect of ['handshake', 'stateless', 'draft'] as const) {
      expect(connections.home(client(dialect, asked))).toBe(own);
      expect(connections.known(client(dialect))).toBe(own);
    }
    expect(connections.prepare({ dialect: 'handshake', capabilities: asked })).toBe(own);
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
