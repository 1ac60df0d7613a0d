import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import { ConnectionUsers } from './upstream-connection.ts';

const client = (dialect: ClientView['dialect'], principal = 'alice') =>
  ({ ...SPEAKING[dialect], principal }) as ClientView;

describe('the users of a connection', () => {
  it('are one client as long as no other sends a request', () => {
    const users = new ConnectionUsers();
    const [alice, bob] = [client('handshake'), client('handshake')];
    expect([users.isAlone(alice), users.isAlone(bob)]).toEqual([true, true]);
    users.note(alice, 'tools/call');
    users.note(alice, 'tools/call');
    expect([users.isAlone(alice), users.isAlone(bob)]).toEqual([true, false]);
    users.note(bob, 'completion/complete');
    users.note(alice, 'tools/call');
    expect([users.isAlone(alice), users.isAlone(bob)]).toEqual([false, false]);
  });

  it('are known by their principals in the stateless era', () => {
    const users = new ConnectionUsers();
    users.note(client('stateless'), 'tools/call');
    users.note(client('stateless'), 'tools/call');
    expect(users.isAlone(client('stateless'))).toBe(true);
    expect(users.isAlone(client('stateless', 'bob'))).toBe(false);
    expect(users.isAlone(client('handshake'))).toBe(false);
    users.note(client('stateless', 'bob'), 'tools/call');
    expect(users.isAlone(client('stateless'))).toBe(false);
  });

  it('are not those for whom only lists were fetched', () => {
    const users = new ConnectionUsers();
    const alice = client('handshake');
    users.note(client('handshake'), 'tools/list');
    users.note(alice, 'tools/call');
    users.note(client('handshake'), 'ping');
    expect(users.isAlone(alice)).toBe(true);
  });

  it('are forgotten when the connection is opened again', () => {
    const users = new ConnectionUsers();
    const alice = client('handshake');
    users.note(client('handshake'), 'tools/call');
    users.note(alice, 'tools/call');
    users.clear();
    users.note(alice, 'tools/call');
    expect(users.isAlone(alice)).toBe(true);
  });
});
