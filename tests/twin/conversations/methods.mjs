// Every method once or twice, without a fault, with a second client beside that does the same.
import { BIG, EXTRA } from '../peers/catalogue.mjs';
import { eraOf, isSince } from '../revisions.mjs';
import { atServer, canAsk, isSameEra, use } from './parts.mjs';

const isHandshake = ({ client, server }) => [client, server].every(({ revision }) => eraOf(revision) === 'handshake');
const isNoDraft = (cell) => canAsk(cell);

function simple(method, params, only = isNoDraft) {
  return {
    name: method,
    only,
    async play({ a, b }) {
      const paramsOf = typeof params === 'function' ? params : () => params;
      await Promise.all([a, b].map((client) => client.request(method, paramsOf(client))));
    },
  };
}

function using(name, steps, { method = 'tools/call', only = () => true, level } = {}) {
  return {
    name: `${method} ${name}`,
    isForPeers: true,
    only,
    async play({ a, b }) {
      const calls = [a, b].map((client) => client.request(...use(client, steps, method), { level }));
      await Promise.all(calls);
      await a.request(...use(a, steps, method), { level });
    },
  };
}

function list(method) {
  return {
    name: `${method} over pages`,
    isForPeers: true,
    only: isNoDraft,
    async play({ a, b }) {
      for (const client of [a, b]) {
        let cursor;
        for (let page = 0; page < 5; page++) {
          const { result } = await client.request(method, cursor === undefined ? {} : { cursor });
          cursor = result?.nextCursor;
          if (cursor === undefined) break;
        }
      }
    },
  };
}

const asks = ['elicit', 'sample', 'roots'];

export const METHODS = [
  using('plain', []),
  using('with progress', ['progress', 'progress']),
  using('with log', ['log'], { level: 'debug', only: isNoDraft }),
  using('large', ['large:300000']),
  using('that fails', ['progress', 'fail']),
  ...asks.map((kind) => using(`asking: ${kind}`, [kind], { only: (cell) => canAsk(cell) && knows(cell, kind) })),
  using('asking twice', ['roots', 'progress', 'sample'], { only: canAsk }),
  ...['prompts/get', 'resources/read'].flatMap((method) => [
    using('plain', [], { method, only: isNoDraft }),
    using('with progress', ['progress', 'progress'], { method, only: isNoDraft }),
    using('asking: roots', ['roots'], { method, only: canAsk }),
  ]),
  ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].map(list),
  simple('completion/complete', ({ words }) => ({
    ref: { type: 'ref/prompt', name: 'greet', 'x-extra': EXTRA },
    argument: { name: 'steps', value: 'grün' },
    ...(isSince(words, '2025-06-18') && { context: { arguments: { n: '1' } } }),
  })),
  simple('logging/setLevel', { level: 'debug' }, isHandshake),
  simple('ping', {}, isHandshake),
  simple('com.example/custom', { arguments: { n: BIG, steps: ['progress'] }, steps: ['progress'] }, isNoDraft),
  simple('com.example/unknown', { n: BIG }, isNoDraft),
  {
    name: 'a custom notification',
    only: (cell) => isHandshake(cell) && isSameEra(cell),
    async play(stage) {
      const { a, b } = stage;
      for (const client of [a, b]) {
        await client.notify('notifications/com.example.custom', {
          who: client.who,
          n: BIG,
          _meta: { 'com.example/n': BIG },
        });
        await atServer(stage, 'the notification', (message) => message?.params?.who === client.who);
      }
    },
  },
];

function knows({ client, server }, kind) {
  return kind !== 'elicit' || [client, server].every(({ revision }) => revision >= '2025-06-18');
}
