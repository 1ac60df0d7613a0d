import { describe, expect, it } from 'vitest';
import type { ClientView } from '../../../protocol/exchange.ts';
import type { Change } from '../../../protocol/target.ts';
import { ChangeListeners } from './change-listeners.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { ConnectionUsers } from './upstream-connection.ts';

const connection = (principal?: string) => ({ principal, users: new ConnectionUsers() }) as UpstreamConnection;
const log: Change = { kind: 'log', entry: { level: 'info', data: 1 } };

function setUp() {
  const homes = new Map<ClientView, UpstreamConnection>();
  const listeners = new ChangeListeners((client) => homes.get(client));
  const add = (home: UpstreamConnection, dialect: ClientView['dialect'] = 'handshake', principal = 'alice') => {
    const client = { dialect, principal } as ClientView;
    homes.set(client, home);
    const heard: Change[] = [];
    const stop = listeners.add((change) => void heard.push(change), client);
    return { client, heard, stop };
  };
  return { listeners, add };
}

describe('what a server says by itself', () => {
  it('a notification goes to the clients of its connection', () => {
    const { listeners, add } = setUp();
    const [mine, shared] = [connection('alice'), connection()];
    const [one, other] = [add(mine), add(shared)];
    listeners.tell(mine, { kind: 'tools' }, true);
    listeners.tell(shared, { kind: 'resource', uri: 'a:' }, true);
    expect(one.heard).toEqual([{ kind: 'tools' }]);
    expect(other.heard).toEqual([{ kind: 'resource', uri: 'a:' }]);
    one.stop();
    listeners.tell(mine, { kind: 'tools' }, true);
    expect(one.heard).toHaveLength(1);
    expect(listeners.has(one.client)).toBe(false);
    expect(listeners.isEmpty).toBe(false);
  });

  it('stateless clients hear of changed lists from every process that may serve them', () => {
    const { listeners, add } = setUp();
    const listening = add(connection('alice'), 'stateless');
    const handshake = add(connection('alice'));
    for (const from of [connection('alice'), connection(), connection('bob')]) {
      listeners.tell(from, { kind: 'prompts' }, true);
      listeners.tell(from, { kind: 'prompts' }, false); // one server tells each connection itself
      listeners.tell(from, { kind: 'resource', uri: 'a:' }, true);
    }
    expect(listening.heard).toEqual([{ kind: 'prompts' }, { kind: 'prompts' }]);
    expect(handshake.heard).toEqual([]);
  });

  it('a log message is delivered only if its recipient is certain', () => {
    const { listeners, add } = setUp();
    const shared = connection();
    const one = add(shared);
    listeners.tell(shared, log, false);
    expect(one.heard).toEqual([log]);
    const other = add(shared);
    listeners.tell(shared, log, false);
    expect([one.heard.length, other.heard.length]).toEqual([1, 0]);
  });

  it('a log message is not delivered if another client has used the connection', () => {
    const { listeners, add } = setUp();
    const shared = connection();
    const one = add(shared);
    shared.users.note(one.client, 'tools/call');
    listeners.tell(shared, log, false);
    expect(one.heard).toEqual([log]);
    shared.users.note({ dialect: 'stateless', principal: 'alice' } as ClientView, 'tools/call');
    listeners.tell(shared, log, false);
    listeners.tell(shared, { kind: 'tools' }, false);
    expect(one.heard).toEqual([log, { kind: 'tools' }]);
  });

  it('listeners that are not clients get the changes of all connections', () => {
    const { listeners } = setUp();
    const heard: Change[] = [];
    listeners.add((change) => void heard.push(change), undefined);
    listeners.tell(connection('bob'), { kind: 'tools' }, false);
    listeners.tellAll({ kind: 'prompts' });
    expect(heard).toEqual([{ kind: 'tools' }, { kind: 'prompts' }]);
  });
});
