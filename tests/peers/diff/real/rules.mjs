// Applies the changes that the gateway makes by rule to the direct answers.
import { isDeepStrictEqual } from 'node:util';

const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
};

/** Areas whose entries have a name that the gateway puts the name of the server before. */
const NAMED = new Set(['tools', 'prompts']);
const qualify = (server, name) => `${server.name}__${name}`;

/** Joined with others, a server is not asked for what nobody has, and its tools and prompts are called by their qualified names. */
export function joinedCalls(server, calls) {
  return calls.filter(({ alone }) => !alone).map((call) => ({ ...call, params: qualified(server, call) }));
}

function qualified(server, { method, params }) {
  if (method === 'tools/call' || method === 'prompts/get') return { ...params, name: qualify(server, params.name) };
  if (params.ref?.type === 'ref/prompt')
    return { ...params, ref: { ...params.ref, name: qualify(server, params.ref.name) } };
  return params;
}

/** What is expected of the joined servers: each list is all the lists in order, as they are at the start for the others. */
export function joinedLists(calls, server, direct) {
  const { answers } = direct.get(server);
  const kept = calls.map((call, index) => ({ call, answer: answers[index] })).filter(({ call }) => !call.alone);
  return {
    hello: undefined,
    answers: kept.map(({ call: { method }, answer }) => {
      const area = LISTS[method];
      if (!area) return answer;
      const entries = [...direct].flatMap(([one, { answers: said }]) => {
        const own = one === server ? answer.result[area] : firstList(one, said, method, area);
        return NAMED.has(area) ? own.map((entry) => ({ ...entry, name: qualify(one, entry.name) })) : own;
      });
      const lists = [...direct].map(([one, { answers: said }]) =>
        one === server ? answer.result : firstResult(one, said, method),
      );
      return { result: { ...ownMembers(lists, area), [area]: entries } };
    }),
  };
}

/** What lists say of themselves is kept where all servers that have such a list agree. */
function ownMembers(lists, area) {
  const members = lists.filter((list) => list?.[area]).map(({ [area]: _entries, nextCursor: _cursor, ...own }) => own);
  const { _meta: _own, ...agreed } = agreedMembers(members);
  const meta = agreedMembers(members.map(({ _meta = {} }) => _meta));
  return { ...agreed, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

function agreedMembers([first, ...others]) {
  const isAgreed = ([key, value]) => others.every((other) => isDeepStrictEqual(other[key], value));
  return Object.fromEntries(Object.entries(first).filter(isAgreed));
}

function firstResult(server, answers, method) {
  const index = server.calls('').findIndex((call) => call.method === method);
  return answers[index]?.result;
}

function firstList(server, answers, method, area) {
  return firstResult(server, answers, method)?.[area] ?? [];
}

/** The words of the client's revision for what a server does not have, whatever words the server had for it. */
export function worded({ hello, answers }) {
  return { hello, answers: answers.map((answer) => (isNoResource(answer) ? NO_RESOURCE : answer)) };
}

const NO_RESOURCE = { error: 'the resource does not exist' };

function isNoResource({ error }) {
  return (error?.code === -32602 || error?.code === -32002) && /resource .*not found/i.test(error.message);
}

/** Spoken in the newest era through the gateway, and in an older one directly: what only one of them has words for. */
export function bridged({ hello, answers }) {
  const { tasks: _tasks, extensions: _extensions, ...capabilities } = hello?.capabilities ?? {};
  return { hello: hello && { ...hello, capabilities }, answers: answers.map(bridgedAnswer) };
}

function bridgedAnswer({ result, ...answer }) {
  if (!result) return answer;
  const { ttlMs: _ttl, cacheScope: _scope, resultType: _type, ...said } = result;
  // How a tool runs as a task is told by the extension, not by the tool.
  if (said.tools) said.tools = said.tools.map(({ execution: _, ...tool }) => tool);
  return { ...answer, result: said };
}
