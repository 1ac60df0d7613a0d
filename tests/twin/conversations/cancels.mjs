// A user who loses patience: at the server, with an open question, after the end.
import { eraOf } from '../revisions.mjs';
import { atGate, canAsk, cancelAtServer, progressAt, settle, use } from './parts.mjs';

const REASON = 'no patience: grün 漢字';

export const CANCELS = [
  ...['tools/call', 'prompts/get', 'resources/read'].map((method) => ({
    name: `cancel while ${method} runs`,
    isForPeers: true,
    only: method === 'tools/call' ? () => true : canAsk,
    async play(stage) {
      const { a, b, server } = stage;
      const beside = b.start(...use(b, ['progress', 'gate:b'], method));
      const call = a.start(...use(a, ['progress', 'gate:a', 'progress'], method));
      await atGate(stage, 'a', call.tag);
      await atGate(stage, 'b', beside.tag);
      for (const client of [a, b]) await progressAt(stage, client);
      await a.cancel(call, REASON);
      await cancelAtServer(stage, call.tag);
      await settle(stage);
      server.open('a');
      server.open('b');
      await beside.done;
      await settle(stage);
    },
  })),
  {
    name: 'cancel with an open question',
    only: (cell) => canAsk(cell) && isAskedOnTheWay(cell),
    async play(stage) {
      const { a, b, tape } = stage;
      a.holdsQuestions = true;
      b.holdsQuestions = true;
      const beside = b.start(...use(b, ['roots']));
      const call = a.start(...use(a, ['roots', 'progress']));
      for (const { tag } of [call, beside]) {
        await tape.until(`the question of ${tag}`, ({ event, mark }) => event === 'question' && mark === `${tag} q0`);
      }
      await a.cancel(call, REASON);
      await cancelAtServer(stage, call.tag);
      await settle(stage);
      await b.answerHeld();
      await beside.done;
      await settle(stage);
    },
  },
  {
    name: 'cancel after the answer',
    only: () => true,
    async play(stage) {
      const { a } = stage;
      const call = a.start(...use(a, ['progress']));
      await call.done;
      if (a.era !== 'stateless') await a.cancel(call, REASON);
      await settle(stage);
    },
  },
];

/** Only where the call is still open while its question is. */
function isAskedOnTheWay({ client, server }) {
  return [client, server].every(({ revision }) => eraOf(revision) === 'handshake');
}
