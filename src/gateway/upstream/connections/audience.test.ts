import { describe, expect, it } from 'vitest';
import type { ClientView } from '../../../protocol/exchange.ts';
import type { Change } from '../../../protocol/target.ts';
import { Audience } from './audience.ts';
import type { Connection } from './connection.ts';
import { Users } from './users.ts';

const connection = (principal?: string) => ({ principal, users: new Users() }) as Connection;
const log: Change = { kind: 'log', entry: { level: 'info', data: 1 } };

function setUp() {
  const homes = new Map<ClientView, Connection>();
  const audience = new Audience((client) => homes.get(client));
  const add = (home: Connection, dialect: ClientView['dialect'] = 'handshake', principal = 'alice') => {
    const client = { dialect, principal } as ClientView;
    homes.set(client, home);
    const heard: Change[] = [];
    const stop = audience.add((change) => void heard.push(change), client);
    return { client, heard, stop };
  };
  return { audience, add };
}

describe('what a server says by itself', () => {
  it('is told to those whose connection it came on', () => {
    const { audience, add } = setUp();
    const [mine, shared] = [connection('alice'), connection()];
    const [one, other] = [add(mine), add(shared)];
    audience.tell(mine, { kind: 'tools' }, true);
    audience.tell(shared, { kind: 'resource', uri: 'a:' }, true);
    expect(one.heard).toEqual([{ kind: 'tools' }]);
    expect(other.heard).toEqual([{ kind: 'resource', uri: 'a:' }]);
    one.stop();
    audience.tell(mine, { kind: 'tools' }, true);
    expect(one.heard).toHaveLength(1);
    expect(audience.has(one.client)).toBe(false);
    expect(audience.isEmpty).toBe(false);
  });

  it('is told to stateless clients by every process that may serve them, of lists alone', () => {
    const { audience, add } = setUp();
    const listening = add(connection('alice'), 'stateless');
    const handshake = add(connection('alice'));
    for (const from of [connection('alice'), connection(), connection('bob')]) {
      audience.tell(from, { kind: 'prompts' }, true);
      audience.tell(from, { kind: 'prompts' }, false); // one server tells each connection itself
      audience.tell(from, { kind: 'resource', uri: 'a:' }, true);
    }
    expect(listening.heard).toEqual([{ kind: 'prompts' }, { kind: 'prompts' }]);
    expect(handshake.heard).toEqual([]);
  });

  it('is told as a log message only where there is no doubt whose it is', () => {
    const { audience, add } = setUp();
    const shared = connection();
    const one = add(shared);
    audience.tell(shared, log, false);
    expect(one.heard).toEqual([log]);
    const other = add(shared);
    audience.tell(shared, log, false);
    expect([one.heard.length, other.heard.length]).toEqual([1, 0]);
  });

  it('is told as a log message to no client where another has used the connection', () => {
    const { audience, add } = setUp();
    const shared = connection();
    const one = add(shared);
    shared.users.note(one.client, 'tools/call');
    audience.tell(shared, log, false);
    expect(one.heard).toEqual([log]);
    shared.users.note({ dialect: 'stateless', principal: 'alice' } as ClientView, 'tools/call');
    audience.tell(shared, log, false);
    audience.tell(shared, { kind: 'tools' }, false);
    expect(one.heard).toEqual([log, { kind: 'tools' }]);
  });

  it('reaches listeners that are not known as clients, from everywhere', () => {
    const { audience } = setUp();
    const heard: Change[] = [];
    audience.add((change) => void heard.push(change), undefined);
    audience.tell(connection('bob'), { kind: 'tools' }, false);
    audience.tellAll({ kind: 'prompts' });
    expect(heard).toEqual([{ kind: 'tools' }, { kind: 'prompts' }]);
  });
});
