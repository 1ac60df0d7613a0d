import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import { describe, expect, it } from 'vitest';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { TaskState, Target } from '../../../kernel/target.ts';
import { FakeTarget, RecordingOutlet, enveloped, fakeContext, settled } from '../fake-context.contract.ts';
import type { ServeContextOptions } from '../serve/serve-context.ts';
import { META } from '../meta.ts';
import { serveStateless } from './serve-stateless.ts';
import type { ClientView } from '../../../kernel/exchange.ts';

const withTasks = { [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } } };
const task: TaskState = { taskId: 't', status: 'working', createdAt: '', lastUpdatedAt: '', ttlMs: 1 };

function listening(options?: ServeContextOptions) {
  const target = new FakeTarget();
  const context = fakeContext(target, options);
  const listen = (notifications: unknown, id: string | number = 1, meta: JsonObject = {}) => {
    const outlet = new RecordingOutlet();
    const message = enveloped(id, 'subscriptions/listen', { notifications }, meta);
    const running = serveStateless(context, message, outlet, { principal: 'local' });
    return Object.assign(outlet, { running });
  };
  return { target, context, listen };
}

const methods = (outlet: RecordingOutlet) => outlet.sent.map((message) => (message as { method: string }).method);

describe('a listen stream', () => {
  it('begins with an acknowledgement of the accepted filter', () => {
    const { listen } = listening();
    const outlet = listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['a:'],
      other: true,
    });
    expect(outlet.sent).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: {
          notifications: { toolsListChanged: true, resourceSubscriptions: ['a:'] },
          _meta: { [META.subscriptionId]: 1 },
        },
      },
    ]);
    expect(outlet.ends).toEqual([]);
    expect(outlet.running).toMatchObject({ endless: true });
  });

  it('reports only the changes that the client asked for', () => {
    const { target, listen } = listening();
    const outlet = listen({ toolsListChanged: true, resourceSubscriptions: ['a:'] });
    target.tell({ kind: 'prompts' });
    target.tell({ kind: 'resources' });
    target.tell({ kind: 'resource', uri: 'b:' });
    target.tell({ kind: 'log', entry: { level: 'emergency', data: 1 } });
    target.tell({ kind: 'elicited', elicitationId: 'e' });
    target.tell({ kind: 'tools', added: [{ name: 'n' }] });
    target.tell({ kind: 'resource', uri: 'a:', name: 'A' });
    expect(outlet.sent.slice(1)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: { [META.subscriptionId]: 1 } } },
      {
        jsonrpc: '2.0',
        method: 'notifications/resources/updated',
        params: { uri: 'a:', _meta: { [META.subscriptionId]: 1 } },
      },
    ]);
  });

  it.each([7, '7', 0, ''])('is named by its request id with its type: %j', (id) => {
    const { target, listen, context } = listening();
    const outlet = listen({ toolsListChanged: true }, id);
    target.tell({ kind: 'tools' });
    context.listens.endAll();
    for (const message of outlet.sent)
      expect((message as { params: JsonObject }).params._meta).toEqual({ [META.subscriptionId]: id });
    expect(outlet.ends).toMatchObject([
      { id, result: { resultType: 'complete', _meta: { [META.subscriptionId]: id } } },
    ]);
  });

  it('ends silently when the client ends it, and with a result when the server does; nothing comes after', () => {
    const { target, context, listen } = listening();
    const byClient = listen({ toolsListChanged: true });
    const byServer = listen({ toolsListChanged: true }, 2);
    byClient.running!.cancel();
    context.listens.endAll();
    target.tell({ kind: 'tools' });
    expect(byClient.ends).toEqual([]);
    expect(byServer.ends).toHaveLength(1);
    expect([...methods(byClient), ...methods(byServer)]).toHaveLength(2);
    expect(target.watchers).toBe(0);
    expect(context.listens.size).toBe(0);
  });

  it.each([
    [undefined],
    [null],
    ['all'],
    [[]],
    [{ resourceSubscriptions: 'a:' }],
    [{ resourceSubscriptions: [7] }],
    [{ taskIds: {} }],
  ])('a filter of %j is refused', (notifications) => {
    const { listen, context } = listening();
    const outlet = listen(notifications);
    expect(outlet.ends).toMatchObject([{ error: { code: -32602 } }]);
    expect(context.listens.size).toBe(0);
  });

  it('is refused beyond the limit, and accepted again once another has ended', () => {
    const { listen } = listening({ limits: { maxListens: 1 } });
    const first = listen({});
    expect(listen({}, 2).ends).toMatchObject([{ error: { code: -32000, data: { limit: 'maxListens' } } }]);
    first.running!.cancel();
    expect(listen({}, 3).ends).toEqual([]);
  });

  it('reports tasks to their owner if it declared the extension', () => {
    const { listen, target } = listening();
    expect(listen({ taskIds: ['t'] }).ends).toMatchObject([{ error: { code: -32021 } }]);
    const outlet = listen({ taskIds: ['t'] }, 2, withTasks);
    target.tell({ kind: 'task', task, principal: 'somebody' });
    target.tell({ kind: 'task', task: { ...task, taskId: 'other' }, principal: 'local' });
    expect(outlet.sent).toHaveLength(1);
    target.tell({ kind: 'task', task, principal: 'local' });
    expect(outlet.sent[1]).toMatchObject({ method: 'notifications/tasks', params: { taskId: 't', ttlMs: 1 } });
  });
});

function listenToServer() {
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
    const { target, outlet, subscribed, settle } = listenToServer();
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
    const { target, outlet, running, settle } = listenToServer();
    running!.cancel();
    settle('a:');
    settle('b:');
    await settled();
    expect([outlet.sent, target.watchers]).toEqual([[], 0]);
  });
});
