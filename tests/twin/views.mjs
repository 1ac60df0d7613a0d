// What each side saw of each request, read from a tape: by the tag of the request, without what each hop chooses for itself (ids, tokens, states).
import { Exact, canonical } from './json.mjs';
import { TAG, tagOf } from './revisions.mjs';
import { markOf } from './peers/questions.mjs';

/** What opens and ends a connection is each hop's own. */
const OPENINGS = new Set(['notifications/initialized', 'initialized', 'exit']);

/** `{ A1: { method, answer, progress, logs, questions }, …, notices }` of one client. */
export function clientView(tape, who) {
  const view = { notices: [] };
  const tags = new Map();
  const tokens = new Map();
  const at = (tag) => (view[tag] ??= { method: '?', progress: [], logs: [], questions: [] });
  for (const entry of tape.filter((one) => one.side === 'client' && one.who === who)) {
    const { message } = entry;
    if (entry.event === 'lost' && entry.tag) at(entry.tag).answer = { lost: true };
    if (!message) continue;
    if (entry.way === 'out') {
      if (message.method && message.id !== undefined && tagOf(message)) {
        tags.set(message.id, tagOf(message));
        tokens.set(message.params._meta.progressToken, tagOf(message));
        at(tagOf(message)).method = message.method;
      }
      continue;
    }
    const tag = tags.get(message.id);
    if (message.method === undefined) {
      if (tag === undefined) continue;
      const { inputRequests } = message.result ?? {};
      if (inputRequests) at(tag).questions.push(...Object.values(inputRequests));
      else at(tag).answer = message.error ? { error: message.error } : { result: message.result };
      continue;
    }
    file(message, { view, at, tags, tokens });
  }
  view.notices = inOrder(view.notices);
  return withoutIds(view);
}

function file(message, { view, at, tags, tokens }) {
  const { method, params } = message;
  if (method === 'notifications/progress') {
    const { progressToken, ...report } = params;
    return at(tokens.get(progressToken) ?? '?').progress.push(report);
  }
  if (method === 'progress') return at(tags.get(params.id)).progress.push({ ...params, id: undefined });
  if (method === 'notifications/message' && params.data?.of) return at(params.data.of).logs.push(params);
  const mark = markOf(message);
  if (mark !== undefined && message.id !== undefined) return at(mark.split(' ')[0]).questions.push({ method, params });
  if (method === 'ping' || method === 'notifications/cancelled') return undefined;
  return view.notices.push({ method, params });
}

/** `{ A1: { method, rounds, arrivals, cancels, answers }, …, notices }` of the server; `arrivals` beyond those that it refused itself. */
export function serverView(tape) {
  const view = { notices: [] };
  const requests = new Map();
  const marks = new Map();
  const at = (tag) => (view[tag] ??= { method: '?', rounds: [], arrivals: 0, cancels: [], answers: [] });
  for (const entry of tape.filter(({ side }) => side === 'server')) {
    const { message, conn } = entry;
    if ((entry.event === 'fault' || entry.event === 'refused') && entry.tag) at(entry.tag).arrivals--;
    if (entry.event === 'closed' && entry.tag) at(entry.tag).cancels.push({ closed: true });
    if (!message) continue;
    if (entry.way === 'out') {
      if (message.method && message.id !== undefined) marks.set(message.id, markOf(message));
      continue;
    }
    if (message.method === undefined) {
      const mark = marks.get(message.id);
      if (mark) at(mark.split(' ')[0]).answers.push({ mark, ...outcomeOf(message) });
    } else if (message.id === undefined) hear(message, { view, at, requests, conn });
    else arrive(message, { at, requests, conn });
  }
  view.notices = inOrder(view.notices);
  return withoutIds(view);
}

function arrive(message, { at, requests, conn }) {
  const tag = tagOf(message);
  requests.set(`${conn} ${canonical(message.id)}`, tag ?? 'own');
  if (tag === undefined) return;
  const of = at(tag);
  of.method = message.method;
  const round = { method: message.method, params: plainParams(message.params) };
  if (isNextRound(message.params) || of.rounds.length === 0) of.rounds.push(round);
  if (!isNextRound(message.params)) of.arrivals++;
}

function hear({ method, params }, { view, at, requests, conn }) {
  if (OPENINGS.has(method)) return;
  if (method === 'notifications/cancelled' || method === 'cancel') {
    const { requestId, id, ...more } = params ?? {};
    const tag = requests.get(`${conn} ${canonical(requestId ?? id)}`) ?? params?._meta?.[TAG];
    if (tag !== 'own') at(tag ?? '?').cancels.push(more);
    return;
  }
  return view.notices.push({ method, params });
}

export function isNextRound(params) {
  return params?.inputResponses !== undefined || params?.requestState !== undefined;
}

function outcomeOf({ result, error }) {
  return error ? { error } : { result };
}

/** The parameters of a request without what the sender of this hop chooses. */
export function plainParams(params) {
  if (params === undefined) return undefined;
  const { _meta, inputResponses, requestState, ...others } = params;
  return {
    ...others,
    ...(_meta && { _meta: { ..._meta, ...(_meta.progressToken !== undefined && { progressToken: '<token>' }) } }),
    ...(inputResponses && { inputResponses: inOrder(Object.values(inputResponses)) }),
    ...(requestState !== undefined && { requestState: '<state>' }),
  };
}

function inOrder(values) {
  return values
    .map((value) => [canonical(value), value])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => value);
}

/** Ids of tasks are chosen by each hop. */
function withoutIds(value) {
  if (Array.isArray(value)) return value.map(withoutIds);
  if (typeof value !== 'object' || value === null || value instanceof Exact) return value;
  const members = Object.entries(value).map(([key, inner]) => [key, key === 'taskId' ? '<task>' : withoutIds(inner)]);
  return Object.fromEntries(members);
}
