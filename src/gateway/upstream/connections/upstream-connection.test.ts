import { expect, test } from 'vitest';
import { systemClock } from '../../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import type { SupervisedConnection } from './supervised-connection.ts';
import { ServerSubscriptions } from './server-subscriptions.ts';
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
  for (const uri of ['a:refused', 'a:lost', 'a:kept']) await subscriptions.add(uri, async () => ({}));
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
