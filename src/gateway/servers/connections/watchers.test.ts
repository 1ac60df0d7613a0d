import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { Change } from '../../../kernel/target.ts';
import { Watchers } from './watchers.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { ConnectionUsers } from './upstream-connection.ts';

const connection = (principal?: string) => ({ principal, users: new ConnectionUsers() }) as UpstreamConnection;
const log: Change = { kind: 'log', entry: { level: 'info', data: 1 } };

function setUp() {
  const homes = new Map<ClientView, UpstreamConnection>();
  const watchers = new Watchers((client) => homes.get(client));
  const add = (home: UpstreamConnection, dialect: ClientView['dialect'] = 'handshake', principal = 'alice') => {
    const client = { ...SPEAKING[dialect], principal } as ClientView;
    homes.set(client, home);
    const heard: Change[] = [];
    const stop = watchers.add((change) => void heard.push(change), { client });
    return { client, heard, stop };
  };
  return { watchers, add };
}

describe('what a server says by itself', () => {
  it('a notification goes to the clients of its connection', () => {
    const { watchers, add } = setUp();
    const [mine, shared] = [connection('alice'), connection()];
    const [one, other] = [add(mine), add(shared)];
    watchers.tell(mine, { kind: 'tools' }, true);
    watchers.tell(shared, { kind: 'resource', uri: 'a:' }, true);
    expect(one.heard).toEqual([{ kind: 'tools' }]);
    expect(other.heard).toEqual([{ kind: 'resource', uri: 'a:' }]);
    one.stop();
    watchers.tell(mine, { kind: 'tools' }, true);
    expect(one.heard).toHaveLength(1);
    expect(watchers.has(one.client)).toBe(false);
    expect(watchers.isEmpty).toBe(false);
  });

  it('stateless clients hear of changed lists from every process that may serve them', () => {
    const { watchers, add } = setUp();
    const listening = add(connection('alice'), 'stateless');
    const handshake = add(connection('alice'));
    for (const from of [connection('alice'), connection(), connection('bob')]) {
      watchers.tell(from, { kind: 'prompts' }, true);
      watchers.tell(from, { kind: 'prompts' }, false); // one server tells each connection itself
      watchers.tell(from, { kind: 'resource', uri: 'a:' }, true);
    }
    expect(listening.heard).toEqual([{ kind: 'prompts' }, { kind: 'prompts' }]);
    expect(handshake.heard).toEqual([]);
  });

  it('a log message is delivered only if its recipient is certain', () => {
    const { watchers, add } = setUp();
    const shared = connection();
    const one = add(shared);
    watchers.tell(shared, log, false);
    expect(one.heard).toEqual([log]);
    const other = add(shared);
    watchers.tell(shared, log, false);
    expect([one.heard.length, other.heard.length]).toEqual([1, 0]);
  });

  it('a log message is not delivered if another client has used the connection', () => {
    const { watchers, add } = setUp();
    const shared = connection();
    const one = add(shared);
    shared.users.note(one.client, 'tools/call');
    watchers.tell(shared, log, false);
    expect(one.heard).toEqual([log]);
    shared.users.note({ ...SPEAKING.stateless, principal: 'alice' } as ClientView, 'tools/call');
    watchers.tell(shared, log, false);
    watchers.tell(shared, { kind: 'tools' }, false);
    expect(one.heard).toEqual([log, { kind: 'tools' }]);
  });

  it('listeners that are not clients get the changes of all connections', () => {
    const { watchers } = setUp();
    const heard: Change[] = [];
    watchers.add((change) => void heard.push(change));
    watchers.tell(connection('bob'), { kind: 'tools' }, false);
    watchers.tellAll({ kind: 'prompts' });
    expect(heard).toEqual([{ kind: 'tools' }, { kind: 'prompts' }]);
  });
});
