// What servers and transports do wrong in the middle of a call: they are busy, cut a stream, die, refuse in their own words. Some of it the gateway
// mends; the rest reaches the client as an error, and must leave everybody else alone.
import { BIG, EXTRA } from '../peers/catalogue.mjs';
import { eraOf } from '../revisions.mjs';
import { atGate, canAsk, isTagged, progressAt, settle, use } from './parts.mjs';

const isHttp = ({ server }) => server.transport === 'http';
const isHandshake = ({ revision }) => eraOf(revision) === 'handshake';
const isStateless = ({ revision }) => eraOf(revision) === 'stateless';

function refusing(status) {
  return {
    name: `HTTP ${status} at tools/call`,
    only: (cell) => isHttp(cell) && canAsk(cell),
    async play(stage) {
      const { a, b, server, isDirect } = stage;
      await settle(stage);
      server.faults.push({
        name: String(status),
        left: 1,
        at: isTagged('A2'),
        // A client that is refused has lost its call; directly there may be no HTTP to say so.
        act: (delivery) => (isDirect ? a.loseCall('A2') : delivery.refuse(status, {}, 'busy')),
      });
      await Promise.all([a.request(...use(a, ['progress'])), b.request(...use(b, ['progress']))]);
      await settle(stage);
    },
  };
}

function error(code, { message, data, only }) {
  return {
    name: `error ${code} at tools/call`,
    only,
    async play(stage) {
      const { a, b, server } = stage;
      await settle(stage);
      server.faults.push({
        name: String(code),
        left: 1,
        at: isTagged('A2'),
        act: (delivery, request) => server.fail(delivery, request, { code, message, data }),
      });
      await Promise.all([a.request(...use(a, ['progress'])), b.request(...use(b, ['progress']))]);
      await settle(stage);
    },
  };
}

export const FAULTS = [
  refusing(429),
  refusing(503),
  {
    name: 'a stream that is cut and resumed',
    only: ({ client, server }) =>
      server.transport === 'http' && server.revision === '2025-11-25' && isHandshake(client),
    async play(stage) {
      const { a, b, server, isDirect } = stage;
      server.cuts = !isDirect;
      const calls = [
        a.start(...use(a, ['progress', 'cut', 'progress'])),
        b.start(...use(b, ['progress', 'cut', 'progress'])),
      ];
      await Promise.all(calls.map(({ done }) => done));
      await settle(stage);
    },
  },
  {
    name: 'a server that dies in a call',
    only: ({ client, server }) => ['stdio', 'ws'].includes(server.transport) && [client, server].every(isHandshake),
    async play(stage) {
      const { a, b, listener, isDirect, join } = stage;
      await settle(stage);
      const call = a.start(...use(a, ['progress', 'gate:never']));
      await atGate(stage, 'never', call.tag);
      await progressAt(stage, a);
      if (isDirect) a.drop();
      else listener.die();
      await call.done;
      const later = await join('C');
      await later.request(...use(later, ['progress']));
      await b.request(...use(b));
    },
  },
  {
    name: 'a client that leaves in a call',
    only: canAsk,
    async play(stage) {
      const { a, b, server, tape } = stage;
      await settle(stage);
      const beside = b.start(...use(b, ['progress', 'gate:b', 'progress']));
      const call = a.start(...use(a, ['progress', 'gate:a', 'progress']));
      await atGate(stage, 'a', call.tag);
      await atGate(stage, 'b', beside.tag);
      for (const client of [a, b]) await progressAt(stage, client);
      await a.leave();
      await settle(stage, [b]);
      server.open('a');
      server.open('b');
      await beside.done;
      await settle(stage, [b]);
      tape.mark('over');
    },
  },
  error(-32042, {
    message: 'URL elicitation required',
    data: { elicitations: [{ mode: 'url', elicitationId: 'e1', url: 'https://example.com/e1', message: 'Grün?' }] },
    only: ({ client, server }) => [client, server].every(({ revision }) => revision === '2025-11-25'),
  }),
  error(-32021, {
    message: 'Missing capability',
    data: { requiredCapabilities: { 'x-none': {} }, n: BIG },
    only: ({ client, server }) => [client, server].every(isStateless),
  }),
  error(-32022, {
    message: 'Unsupported protocol version',
    data: { supported: ['2026-07-28'], requested: '2026-07-28' },
    only: ({ client, server }) => [client, server].every(isStateless),
  }),
  {
    name: 'a client that leaves with an open question',
    only: ({ client, server }) => [client, server].every(isHandshake),
    async play(stage) {
      const { a, b, tape } = stage;
      a.holdsQuestions = true;
      b.holdsQuestions = true;
      const beside = b.start(...use(b, ['roots']));
      const call = a.start(...use(a, ['roots', 'progress']));
      for (const { tag } of [call, beside]) {
        await tape.until(`the question of ${tag}`, ({ event, mark }) => event === 'question' && mark === `${tag} q0`);
      }
      await a.leave();
      await settle(stage, [b]);
      await b.answerHeld();
      await beside.done;
      await settle(stage, [b]);
    },
  },
  error(-31001, { message: 'grün 漢字', data: EXTRA, only: canAsk }),
];
