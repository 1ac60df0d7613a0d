// Subscriptions of two clients to one resource: in turn, at the same time, and with a server that refuses one.
import { eraOf } from '../revisions.mjs';
import { atServer, isTagged } from './parts.mjs';

const QUIET = { token: false };
const URI = 'twin://one';
const isHandshake = ({ client, server }) => [client, server].every(({ revision }) => eraOf(revision) === 'handshake');
const isStateless = ({ client, server }) => [client, server].every(({ revision }) => eraOf(revision) === 'stateless');

function updatesAt({ tape }, who, count) {
  const isUpdate = ({ side, way, message, who: of }) =>
    side === 'client' && way === 'in' && of === who && message?.method === 'notifications/resources/updated';
  return tape.until(`update ${count} at ${who}`, () => tape.filter(isUpdate).length >= count);
}

export const SUBSCRIPTIONS = [
  ...[false, true].map((isPlain) => ({
    name: `subscribe, updated, unsubscribe${isPlain ? ' on a shared connection' : ''}`,
    isPlain,
    only: isHandshake,
    async play(stage) {
      const { a, b, server } = stage;
      for (const client of [a, b]) await client.request('resources/subscribe', { uri: URI }, QUIET);
      server.update(URI);
      for (const client of [a, b]) await updatesAt(stage, client.who, 1);
      await a.request('resources/unsubscribe', { uri: URI }, QUIET);
      server.update(URI);
      await updatesAt(stage, 'B', 2);
      await b.request('resources/unsubscribe', { uri: URI }, QUIET);
    },
  })),
  {
    isPlain: true,
    name: 'a subscription that is refused while another client subscribes',
    only: isHandshake,
    async play(stage) {
      const { a, b, server } = stage;
      refuseSubscriptions(server);
      const first = a.start('resources/subscribe', { uri: URI }, QUIET);
      await atServer(stage, 'the subscription', isTagged(first.tag));
      const second = b.start('resources/subscribe', { uri: URI }, QUIET);
      await readByAll(stage);
      server.release();
      await Promise.all([first.done, second.done]);
    },
  },
  {
    isPlain: true,
    name: 'an unsubscribe while the subscription is refused, and another subscriber',
    only: isHandshake,
    async play(stage) {
      const { a, b, server } = stage;
      refuseSubscriptions(server, { times: 1 });
      const first = a.start('resources/subscribe', { uri: URI }, QUIET);
      await atServer(stage, 'the subscription', isTagged(first.tag));
      const gone = a.start('resources/unsubscribe', { uri: URI }, QUIET);
      await readByAll(stage);
      const second = b.start('resources/subscribe', { uri: URI }, QUIET);
      await readByAll(stage);
      server.release();
      await Promise.all([first.done, gone.done, second.done]);
      server.update(URI);
      await updatesAt(stage, 'B', 1);
      await b.request('resources/unsubscribe', { uri: URI }, QUIET);
      stage.tape.write({
        side: 'server',
        way: 'in',
        message: { method: 'end', params: { isSubscribed: server.isSubscribed(URI) } },
      });
    },
  },
  {
    name: 'subscriptions/listen',
    only: isStateless,
    async play(stage) {
      const { a, b, server, tape } = stage;
      for (const client of [a, b]) {
        client.start('subscriptions/listen', { notifications: { resourceSubscriptions: [URI] } }, { token: false });
        const isAck = ({ who, message }) =>
          who === client.who && message?.method === 'notifications/subscriptions/acknowledged';
        await tape.until(`the acknowledgement for ${client.who}`, isAck);
      }
      server.update(URI);
      for (const client of [a, b]) await updatesAt(stage, client.who, 1);
    },
  },
];

/** The gateway, or the server, has read what the clients sent: both answer a ping after it. */
async function readByAll({ a, b }) {
  await Promise.all([a, b].map((client) => client.request('ping', {})));
}

/** Subscriptions wait for `release`, and are then refused as often as said. */
function refuseSubscriptions(server, { times = 9 } = {}) {
  let left = times;
  const waiting = [];
  let isReleased = false;
  const decide = (delivery, message) => {
    const isRefused = left-- > 0;
    if (isRefused) server.fail(delivery, message, { code: -31001, message: 'not this one', data: { uri: URI } });
    else server.serve(delivery, message);
  };
  server.release = () => {
    isReleased = true;
    for (const [delivery, message] of waiting.splice(0)) decide(delivery, message);
  };
  server.faults.push({
    name: 'slow subscription',
    left: 99,
    at: ({ method }) => method === 'resources/subscribe',
    act: (delivery, message) => (isReleased ? decide(delivery, message) : waiting.push([delivery, message])),
  });
}
