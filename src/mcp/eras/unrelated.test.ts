// Messages between a handshake client and a target that belong to no request.
import { describe, expect, it } from 'vitest';
import type { ClientView } from '../../kernel/exchange.ts';
import type { NotificationMessage, RequestMessage } from '../../kernel/message.ts';
import type { Target, Watcher } from '../../kernel/target.ts';
import { answerOf, converse, settled } from './fake-context.contract.ts';

const opening = { protocolVersion: '2025-11-25', capabilities: { roots: {}, elicitation: {} } };

function watched(params: typeof opening = opening) {
  const set = converse();
  const watchers: Watcher[] = [];
  const notified: [NotificationMessage, ClientView][] = [];
  const target: Target = set.target;
  const watch = target.watch.bind(target);
  target.watch = (listener, watcher) => {
    watchers.push(watcher!);
    return watch(listener);
  };
  target.notify = (notification, client) => void notified.push([notification, client]);
  const init = set.call('init', 'initialize', params);
  expect(answerOf(init).result).toBeDefined();
  return { ...set, watcher: watchers[0]!, notified };
}

describe('a question outside of any request', () => {
  it('goes out on the back channel once the client is ready', async () => {
    const { watcher, back, tell, put } = watched();
    const answer = watcher.ask!({ method: 'roots/list' });
    await settled();
    expect(back).toEqual([]);
    tell('notifications/initialized');
    const [question] = back as RequestMessage[];
    expect(question).toMatchObject({ method: 'roots/list' });
    put({ jsonrpc: '2.0', id: question!.id, result: { roots: [] } });
    expect(await answer).toEqual({ roots: [] });
  });

  it('is cancelled when the server withdraws it or the client leaves', async () => {
    const { watcher, back, tell, conversation } = watched();
    tell('notifications/initialized');
    const controller = new AbortController();
    const lost = watcher.ask!({ method: 'roots/list' }, controller.signal);
    controller.abort();
    await expect(lost).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(back.at(-1)).toMatchObject({ method: 'notifications/cancelled' });
    const gone = watcher.ask!({ method: 'roots/list' });
    conversation.close();
    await expect(gone).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(watcher.ask!({ method: 'roots/list' })).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('is refused if the client did not declare it', async () => {
    const { watcher } = watched({ ...opening, capabilities: { roots: {}, elicitation: {} } });
    await expect(watcher.ask!({ method: 'sampling/createMessage', params: {} })).rejects.toMatchObject({
      code: 'CLIENT_CANNOT_BE_ASKED',
    });
  });
});

describe('a client’s own notification', () => {
  it('reaches the target unless it is meant for the gateway', () => {
    const { tell, notified, watcher } = watched();
    tell('notifications/initialized');
    tell('notifications/progress', { progressToken: 1, progress: 1 });
    tell('notifications/cancelled', { requestId: 77 });
    tell('notifications/roots/list_changed');
    tell('notifications/odd', { a: 1 });
    expect(notified.map(([{ method }]) => method)).toEqual(['notifications/roots/list_changed', 'notifications/odd']);
    expect(notified[0]![1]).toBe(watcher.client);
  });
});

describe('changes of parts of a resource', () => {
  it('reach the subscribers of the whole', async () => {
    const { target, call, tell, back } = watched();
    tell('notifications/initialized');
    call(1, 'resources/subscribe', { uri: 'a://x' });
    await settled();
    for (const uri of ['a://x/part', 'a://xy', 'a://x']) target.tell({ kind: 'resource', uri });
    expect(back.map((message) => (message as NotificationMessage).params?.uri)).toEqual(['a://x/part', 'a://x']);
  });
});
