// What must hold in every conversation, whatever it is compared with. Each rule reads the tape and returns what breaks it.
import { canonical } from './json.mjs';
import { markOf } from './peers/questions.mjs';
import { META, eraOf, tagOf } from './revisions.mjs';
import { isNextRound, plainParams } from './views.mjs';

export function brokenRules(tape, cell) {
  return RULES.flatMap((rule) => rule(tape, cell));
}

const RULES = [
  repeatsEqualTheFirst,
  nothingAfterCancel,
  noProgressAfterTheEnd,
  nothingForAnotherClient,
  questionsOnce,
  answersFromWhoWasAsked,
  noDeadSession,
  eraOfTheServer,
];

function repeatsEqualTheFirst(tape) {
  const first = new Map();
  return requestsAtServer(tape).flatMap(({ message, server }) => {
    if (isNextRound(message.params)) return [];
    const key = `${server} ${tagOf(message)}`;
    const body = canonical({ method: message.method, params: plainParams(message.params) });
    if (!first.has(key)) first.set(key, body);
    return first.get(key) === body ? [] : [`the repeat of ${key} is another request: ${body} after ${first.get(key)}`];
  });
}

/** Every request of a client has a tag; one without came from nobody. */
function nothingAfterCancel(tape) {
  const hollow = tape
    .filter(
      ({ side, way, message }) => side === 'server' && way === 'in' && isUse(message) && tagOf(message) === undefined,
    )
    .map(({ text }) => `the server got a request that no client sent: ${text}`);
  const late = tape
    .filter(({ event }) => event === 'cancel' || event === 'left')
    .flatMap((cancel) => {
      const settled = tape.find(({ seq, event }) => seq > cancel.seq && event === 'settled');
      if (!settled) return [];
      return requestsAtServer(tape)
        .filter(({ seq, message }) => seq > settled.seq && isOf(message, cancel))
        .map(({ text }) => `sent after its cancel: ${text}`);
    });
  return [...hollow, ...late];
}

function isUse(message) {
  return message?.id !== undefined && /^(tools\/(call|invoke)|prompts\/get|resources\/read)$/.test(message.method);
}

function isOf(message, { tag, who }) {
  return tag === undefined ? tagOf(message)?.startsWith(who) : tagOf(message) === tag;
}

function noProgressAfterTheEnd(tape) {
  const ended = new Map();
  const broken = [];
  for (const { side, way, who, message } of tape.entries) {
    if (side !== 'client' || !message) continue;
    const { params } = message;
    if (way === 'out' && message.method && message.id !== undefined && params?._meta?.progressToken !== undefined) {
      ended.set(`${who} ${message.id}`, params._meta.progressToken);
      ended.delete(`${who} over ${params._meta.progressToken}`);
    }
    if (way === 'in' && message.method === undefined)
      ended.set(`${who} over ${ended.get(`${who} ${message.id}`)}`, true);
    const isLate = message.method === 'notifications/progress' && ended.has(`${who} over ${params.progressToken}`);
    if (way === 'in' && isLate) broken.push(`progress after the end, to ${who}: ${canonical(message)}`);
  }
  return broken;
}

/** Everything that the server says about a call has the tag of the call in it. */
function nothingForAnotherClient(tape) {
  const names = new Set(tape.filter(({ side }) => side === 'client').map(({ who }) => who));
  return tape
    .filter(({ side, way }) => side === 'client' && way === 'in')
    .flatMap(({ who, message, text }) => {
      const tag = ownerOf(message);
      return tag && names.has(tag[0]) && tag[0] !== who
        ? [`${who} got what belongs to ${tag}: ${text.slice(0, 500)}`]
        : [];
    });
}

function ownerOf(message) {
  const { params, result } = message;
  const said =
    markOf(message) ?? params?.data?.of ?? params?.message ?? result?._meta?.['com.example/got']?.['com.example/tag'];
  return typeof said === 'string' ? /^[A-Z]\d+\b/.exec(said)?.[0] : undefined;
}

function questionsOnce(tape) {
  const asked = new Map();
  for (const { mark } of tape.filter(({ event, mark }) => event === 'question' && mark)) {
    asked.set(mark, (asked.get(mark) ?? 0) + 1);
  }
  return [...asked].filter(([, times]) => times > 1).map(([mark, times]) => `asked ${times} times: ${mark}`);
}

function answersFromWhoWasAsked(tape) {
  const marks = new Map();
  return tape
    .filter(({ side, message }) => side === 'server' && message)
    .flatMap(({ way, message, text }) => {
      if (way === 'out' && message.method && message.id !== undefined) marks.set(message.id, markOf(message));
      if (way === 'out' || message.method !== undefined || !message.result) return [];
      const mark = marks.get(message.id);
      const said = /"(?:mark|text)":"([A-Z]\d+ q\d+)/.exec(text)?.[1] ?? /"uri":"file:\/\/\/([A-Z])"/.exec(text)?.[1];
      if (mark === undefined || said === undefined || mark.startsWith(said)) return [];
      return [`the answer to ${mark} is that of ${said}: ${text}`];
    });
}

/** A session that the server has ended is not used again once its successor has been used. */
function noDeadSession(tape) {
  const died = new Map();
  return tape.entries.flatMap(({ side, event, session, seq, text }) => {
    if (side !== 'server' || event !== 'no session' || session === undefined) return [];
    if (!died.has(session)) died.set(session, seq);
    const settled = tape.find((one) => one.event === 'settled' && one.seq > died.get(session));
    return settled && seq > settled.seq ? [`sent to the ended session ${session}: ${text}`] : [];
  });
}

/** A server is spoken to in its own era; the other one is tried at most once, before anything else, for a client of that era. */
function eraOfTheServer(tape, { client, server }) {
  const own = eraOf(server.revision);
  // One that was refused for want of a login says nothing of eras, and is sent again.
  const isHeard = ({ seq }) => tape.entries[seq + 1]?.event !== 'refused';
  const openings = tape.filter(
    (one) => one.side === 'server' && one.way === 'in' && isOpening(one.message) && isHeard(one),
  );
  const foreign = openings.filter(({ message }) => openingOf(message) !== own);
  // On a port a command is started before anybody has come, and spoken to as for a handshake client.
  const early = server.transport === 'stdio' && client.transport !== 'stdio' ? 1 : 0;
  const allowed = guesses(eraOf(client.revision), own) * clientsOf(tape) + early;
  const broken = foreign.length > allowed ? foreign.map(({ text }) => `spoken to in another era: ${text}`) : [];
  const strange = tape
    .filter(
      ({ side, way, message }) => side === 'server' && way === 'in' && message?.id !== undefined && tagOf(message),
    )
    .filter(({ message }) => (message.params._meta[`${META}protocolVersion`] !== undefined) !== (own === 'stateless'))
    .map(({ text }) => `a request in the words of another era: ${text}`);
  const first = tape.find(({ side, message }) => message && (side === 'client' || side === 'server'));
  // An official client may have asked on a connection of its own before.
  const isEarly = first?.side === 'server' && server.transport !== 'stdio' && client.peer === undefined;
  const unasked = isEarly ? [`sent to the server before any client came: ${first.text}`] : [];
  return [...broken, ...strange, ...unasked];
}

function isOpening({ method }) {
  return method === 'initialize' || method === 'server/discover';
}

function openingOf({ method, params }) {
  if (method === 'server/discover') return 'stateless';
  return params?.protocolVersion === undefined ? 'draft' : 'handshake';
}

/** How often a client of this era may make the gateway guess wrong. */
function guesses(client, server) {
  if (server === 'draft') return client === 'stateless' ? 2 : 1;
  return client === server || (client === 'draft' && server === 'handshake') ? 0 : 1;
}

function clientsOf(tape) {
  return new Set(tape.filter(({ side, who }) => side === 'client' && who).map(({ who }) => who)).size;
}

function requestsAtServer(tape) {
  return tape.filter(
    ({ side, way, message }) => side === 'server' && way === 'in' && message?.id !== undefined && tagOf(message),
  );
}
