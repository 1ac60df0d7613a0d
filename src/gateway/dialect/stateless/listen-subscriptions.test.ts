import { describe, expect, it } from 'vitest';
import type { ClientView } from '../../../protocol/exchange.ts';
import type { NotificationMessage } from '../../../protocol/message.ts';
import type { Target } from '../../../protocol/target.ts';
import { FakeTarget, RecordingOutlet, enveloped, fakeContext, settled } from '../fake-context.contract.ts';
import { serveStateless } from './serve-stateless.ts';

function listening() {
  const target: Target & FakeTarget = new FakeTarget();
  const subscribed: [string, ClientView][] = [];
  const pending = new Map<string, (outcome?: Error) => void>();
  target.subscribe = (uri, client) => {
    subscribed.push([uri, client]);
    return new Promise((resolve, reject) => {
      pending.set(uri, (outcome) => (outcome ? reject(outcome) : resolve()));
    });
  };
  const outlet = new RecordingOutlet();
  const notifications = { toolsListChanged: true, resourceSubscriptions: ['a:', 'b:'] };
  const message = enveloped(1, 'subscriptions/listen', { notifications });
  const running = serveStateless(fakeContext(target), message, outlet, { principal: 'local' });
  return { target, outlet, running, subscribed, settle: (uri: string, outcome?: Error) => pending.get(uri)!(outcome) };
}

describe('subscriptions that need the server’s consent', () => {
  it('are acknowledged once it has agreed, and nothing is sent before', async () => {
    const { target, outlet, subscribed, settle } = listening();
    expect(subscribed.map(([uri]) => uri)).toEqual(['a:', 'b:']);
    target.tell({ kind: 'tools' });
    settle('a:');
    await settled();
    expect(outlet.sent).toEqual([]);
    settle('b:', new Error('no such thing'));
    await settled();
    expect((outlet.sent[0] as NotificationMessage).params?.notifications).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['a:'],
    });
    target.tell({ kind: 'resource', uri: 'b:' });
    target.tell({ kind: 'resource', uri: 'a:/part' });
    expect(outlet.sent.slice(1)).toMatchObject([{ params: { uri: 'a:/part' } }]);
  });

  it('are dropped if the client leaves meanwhile', async () => {
    const { target, outlet, running, settle } = listening();
    running!.cancel();
    settle('a:');
    settle('b:');
    await settled();
    expect([outlet.sent, target.watchers]).toEqual([[], 0]);
  });
});
