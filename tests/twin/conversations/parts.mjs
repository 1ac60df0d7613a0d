// Parts that conversations are made of.
import { BIG, EXTRA } from '../peers/catalogue.mjs';
import { TAG, eraOf } from '../revisions.mjs';

/** What can be used, and how each is told its steps. */
const USES = {
  'tools/call': (steps) => ({ name: 'play', arguments: { steps, n: BIG, text: 'grün 漢字 🙂', 'x-extra': EXTRA } }),
  'prompts/get': (steps) => ({ name: 'greet', arguments: { steps: steps.join(','), text: 'grün 漢字 🙂' } }),
  'resources/read': (steps) => ({ uri: `twin://play/${steps.join(',')}?n=12345678901234567890` }),
};

/** `[method, params]` of a use, in the words of the client. */
export function use(client, steps = [], method = 'tools/call') {
  if (client.era === 'draft') return ['tools/invoke', USES['tools/call'](steps)];
  return [method, USES[method](steps)];
}

/** A small call there and back: what was sent before it has arrived. */
export function fence(client) {
  return client.request(...use(client), { token: false });
}

/** Both clients have had an answer since: from here on nothing old may come. */
export async function settle({ tape, a, b }, clients = [a, b]) {
  for (const client of clients) await fence(client);
  tape.mark('settled');
}

/** Until the server has got a message that fits. */
export function atServer({ tape }, what, matches) {
  return tape.until(
    `${what} at the server`,
    ({ side, way, message }) => side === 'server' && way === 'in' && matches(message),
  );
}

export function atGate({ tape }, name, tag) {
  return tape.until(`${tag} at gate ${name}`, (one) => one.event === 'gate' && one.name === name && one.tag === tag);
}

/** Until a client has been told how far its call is. */
export function progressAt({ tape }, { who }) {
  const isReport = (message) => message?.method === 'notifications/progress' || message?.method === 'progress';
  return tape.until(`progress at ${who}`, (one) => one.who === who && one.way === 'in' && isReport(one.message));
}

export function isTagged(tag) {
  return (message) => message?.params?._meta?.[TAG] === tag;
}

/** Until the server knows that a call is cancelled: by a message, or in 2026-07-28 over HTTP by the closed connection. */
export function cancelAtServer({ tape }, tag) {
  return tape.until(`the cancel of ${tag} at the server`, ({ side, way, event, message, tag: of }) => {
    if (side !== 'server') return false;
    if (event === 'closed') return of === tag;
    return way === 'in' && (message?.method === 'notifications/cancelled' || message?.method === 'cancel');
  });
}

export function canAsk({ client, server }) {
  return [client, server].every(({ revision }) => eraOf(revision) !== 'draft');
}

export function isSameEra({ client, server }) {
  return eraOf(client.revision) === eraOf(server.revision);
}
