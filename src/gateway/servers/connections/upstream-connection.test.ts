import { describe, expect, test } from 'vitest';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { settled } from '../../../mcp/eras/fake-wire.contract.ts';
import type { SupervisedConnection } from './supervised-connection.ts';
import { ServerSubscriptions } from '../../../mcp/connect/server-subscriptions.ts';
import { UpstreamConnection } from './upstream-connection.ts';

/** A connection whose server answers a level only when it is told to. */
function setUp(principal?: string) {
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const connected = {
    tellLogLevel(level: string): Promise<void> {
      sent.push(level);
      return new Promise((resolve) => answers.push(resolve));
    },
  };
  const supervised = { use: async (work: (one: typeof connected) => Promise<void>) => work(connected) };
  const connection = new UpstreamConnection(
    { era: 'handshake', capabilities: {}, hasOurRoots: false, principal, clock: systemClock } as never,
    () => supervised as unknown as SupervisedConnection,
  );
  return { connection, sent, answers };
}

test('a late answer to an older level does not lower the level of a shared connection', async () => {
  const { connection, sent, answers } = setUp();
  const [first, second] = [connection.setLevel('warning'), connection.setLevel('debug')];
  await Promise.resolve();
  answers[1]!();
  await second;
  answers[0]!();
  await first;
  await connection.setLevel('info');
  expect([sent, connection.subscriptions.logLevel]).toEqual([['warning', 'debug'], 'debug']);
});

test('a level is sent again if another one was set meanwhile', async () => {
  const { connection, sent, answers } = setUp('alice');
  const levels = (['debug', 'error', 'debug'] as const).map((level) => connection.setLevel(level));
  await Promise.resolve();
  for (const answer of answers.toReversed()) answer();
  await Promise.all(levels);
  expect(sent).toEqual(['debug', 'error', 'debug']);
});

test('a resource whose subscription the server refuses again is forgotten, one that is lost on the way is not', async () => {
  const subscriptions = new ServerSubscriptions();
  for (const uri of ['a:refused', 'a:lost', 'a:kept']) await subscriptions.add(uri, {}, async () => ({}));
  const asked: string[] = [];
  const speaker = {
    async subscribe(uri: string) {
      asked.push(uri);
      if (uri === 'a:refused') throw new ProtocolError(-32602, 'No');
      if (uri === 'a:lost') throw new GatewayError('UPSTREAM_CLOSED', { server: 'x', reason: 'gone' });
      return {};
    },
  };
  await subscriptions.repeat((work) => work(speaker as never));
  await subscriptions.repeat((work) => work(speaker as never));
  expect(asked).toEqual(['a:refused', 'a:lost', 'a:kept', 'a:lost', 'a:kept']);
  expect(subscriptions.remove('a:refused')).toBe(false);
});

describe('two clients and one resource', () => {
  const client = (name: string) => ({ principal: name, ...SPEAKING.handshake }) as unknown as ClientView;
  const asks = (method: string, by: ClientView) =>
    ({ method: `resources/${method}`, params: { uri: 'a:b' }, client: by }) as unknown as Exchange;

  /** The server answers when the test says so. */
  function server() {
    const sent: {
      method: string;
      settle: { resolve: (result: JsonObject) => void; reject: (error: Error) => void };
    }[] = [];
    const tell = (method: string) => (): Promise<JsonObject> =>
      new Promise((resolve, reject) => sent.push({ method, settle: { resolve, reject } }));
    const connected = {
      subscribe: tell('subscribe'),
      unsubscribe: tell('unsubscribe'),
      tellSubscribed: tell('subscribe'),
      tellUnsubscribed: tell('unsubscribe'),
    };
    const supervised = { current: connected, use: async (work: (one: unknown) => Promise<unknown>) => work(connected) };
    const connection = new UpstreamConnection(
      { era: 'handshake', capabilities: {}, hasOurRoots: false, clock: systemClock } as never,
      () => supervised as unknown as SupervisedConnection,
    );
    const sends = async (method: string, by: ClientView) => {
      const answer = connection.handleSubscription(asks(method, by));
      answer.catch(() => {});
      await settled();
      return { answer };
    };
    return { connection, sent, sends };
  }

  test('both hear that the server refuses, also the one that came while the request was under way', async () => {
    const { connection, sent, sends } = server();
    const [ann, bob] = [await sends('subscribe', client('ann')), await sends('subscribe', client('bob'))];
    expect(sent.map(({ method }) => method)).toEqual(['subscribe']);
    sent[0]!.settle.reject(new ProtocolError(-32002, 'Not yours'));
    await expect(ann.answer).rejects.toThrow('Not yours');
    await expect(bob.answer).rejects.toThrow('Not yours');
    expect(connection.uris).toEqual([]);
  });

  test('both get the result of the server', async () => {
    const { sent, sends } = server();
    const [ann, bob] = [await sends('subscribe', client('ann')), await sends('subscribe', client('bob'))];
    sent[0]!.settle.resolve({ _meta: { since: 5 } });
    expect([await ann.answer, await bob.answer]).toEqual([{ _meta: { since: 5 } }, { _meta: { since: 5 } }]);
  });

  test('the late failure of one does not end the subscription of the other', async () => {
    const { connection, sent, sends } = server();
    const [ann, bob] = [client('ann'), client('bob')];
    const first = await sends('subscribe', ann);
    await sends('unsubscribe', ann);
    const second = await sends('subscribe', bob);
    expect(sent.map(({ method }) => method)).toEqual(['subscribe', 'unsubscribe', 'subscribe']);
    sent[2]!.settle.resolve({});
    expect(await second.answer).toEqual({});
    sent[0]!.settle.reject(new ProtocolError(-32603, 'Too slow'));
    await expect(first.answer).rejects.toThrow('Too slow');
    expect(connection.uris).toEqual(['a:b']);
    await sends('unsubscribe', bob);
    expect(sent.map(({ method }) => method)).toEqual(['subscribe', 'unsubscribe', 'subscribe', 'unsubscribe']);
    expect(connection.uris).toEqual([]);
  });

  test('the one that gets a connection of its own takes its subscription there, and the other keeps the shared one', async () => {
    const [shared, own] = [server(), server()];
    const [ann, bob] = [client('ann'), client('bob')];
    for (const one of [ann, bob]) await shared.sends('subscribe', one);
    shared.sent[0]!.settle.resolve({});
    void shared.connection.handOver(ann, own.connection);
    await settled();
    expect(own.sent.map(({ method }) => method)).toEqual(['subscribe']);
    expect(own.connection.hasSubscriber((one) => one === ann)).toBe(true);
    expect(shared.sent.map(({ method }) => method)).toEqual(['subscribe']);
    await shared.sends('unsubscribe', bob);
    expect(shared.sent.map(({ method }) => method)).toEqual(['subscribe', 'unsubscribe']);
    void shared.connection.handOver(bob, own.connection);
    await settled();
    expect(own.connection.hasSubscriber((one) => one === bob)).toBe(false);
  });
});
