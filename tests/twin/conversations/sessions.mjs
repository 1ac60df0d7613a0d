// A server that has forgotten its session.
import { eraOf } from '../revisions.mjs';
import { atGate, canAsk, isTagged, settle, use } from './parts.mjs';

const hasSessions = ({ server }) => server.transport === 'http' && eraOf(server.revision) === 'handshake';

function forgets(stage, tag) {
  if (stage.isDirect) return;
  stage.server.faults.push({
    name: '404',
    left: 1,
    at: isTagged(tag),
    act(delivery) {
      delivery.dropSession();
      delivery.refuse(
        404,
        { 'content-type': 'application/json' },
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
      );
    },
  });
}

export const SESSIONS = [
  ...['tools/call', 'prompts/get', 'resources/read'].map((method) => ({
    name: `404 of the session at ${method}`,
    isForPeers: true,
    only: (cell) => hasSessions(cell) && (method === 'tools/call' || canAsk(cell)),
    async play(stage) {
      const { a, b } = stage;
      await settle(stage);
      forgets(stage, 'A2');
      const calls = [a.start(...use(a, ['progress', 'progress'], method)), b.start(...use(b, ['progress'], method))];
      await Promise.all(calls.map(({ done }) => done));
      await settle(stage);
    },
  })),
  {
    name: 'a late answer of a lost session',
    only: hasSessions,
    async play(stage) {
      const { a, b, server, listener, isDirect } = stage;
      await settle(stage);
      const slow = a.start(...use(a, ['gate:slow']), { token: false });
      await atGate(stage, 'slow', slow.tag);
      if (!isDirect) listener.dropSessions();
      await settle(stage);
      server.open('slow');
      await slow.done;
      await a.request(...use(a));
      await b.request(...use(b));
    },
  },
];
