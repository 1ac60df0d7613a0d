// A login in the middle of a call, in a browser: the token has ended and cannot be renewed (401), or the call needs more scopes (403). Its user
// waits for it, cancels while the page is open, or leaves.
import { requireLogin } from '../peers/login.mjs';
import { atGate, canAsk, settle, use } from './parts.mjs';

const METHODS = ['tools/call', 'prompts/get', 'resources/read'];
const isGuarded = (cell) => cell.server.transport === 'http' && canAsk(cell);

async function gateway({ server, listener }) {
  const login = await requireLogin(server, listener);
  return { env: login.env, close: () => login.close() };
}

/** Makes the next request of A need a login, and returns when its page is open. */
const FAULTS = {
  401: ({ server }) => server.login.revoke(),
  '403 with more scopes': ({ server }) => server.login.needsMore.add('A2'),
};

function pageOf({ tape }, after) {
  return tape.until('the login page', ({ event, seq }) => event === 'login page' && seq > after);
}

async function begin(stage, { fault, method, steps }) {
  const { a, server, tape, isDirect } = stage;
  await settle(stage);
  if (isDirect) return a.start(...use(a, steps, method));
  server.login.hold();
  FAULTS[fault](stage);
  const { seq } = tape.mark('fault');
  const call = a.start(...use(a, steps, method));
  await pageOf(stage, seq);
  return call;
}

function finish({ server, isDirect }) {
  if (!isDirect) server.login.finish();
}

export const LOGINS = Object.keys(FAULTS).flatMap((fault) => [
  ...METHODS.map((method) => ({
    name: `${fault} and a login at ${method}`,
    isForPeers: true,
    only: isGuarded,
    gateway,
    async play(stage) {
      const call = await begin(stage, { fault, method, steps: ['progress', 'progress'] });
      finish(stage);
      await call.done;
      await settle(stage);
    },
  })),
  {
    name: `${fault} and a cancel while the login page is open`,
    only: isGuarded,
    gateway,
    async play(stage) {
      const { a, tape, isDirect } = stage;
      const call = await begin(stage, { fault, method: 'tools/call', steps: ['gate:never'] });
      if (isDirect) await atGate(stage, 'never', call.tag);
      await a.cancel(call, 'no patience for pages');
      await a.probe();
      tape.mark('settled');
      finish(stage);
      await settle(stage);
    },
  },
]);
