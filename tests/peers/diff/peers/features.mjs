// What both servers offer, without the words of an SDK. A handler gets `(params, call)`:
//   call.meta                       `_meta` of the request
//   call.signal                     aborted when the caller cancels
//   call.notify(method, params)     on the stream of the request
//   call.push(method, params)       on the stream of the connection
//   call.log(level, data)           by the level that the client has set
//   call.ask(method, params, how)   a request to the client
//   call.record(event)              tells the harness
//   call.fail(code, message, data)  the error that the SDK sends as it is
//   call.input                      `{ responses, state, ask(requests, state) }` where the SDK has input_required
import { LISTS, page } from './lists.mjs';
import { RESULTS } from './results.mjs';
import { TOOLS } from './tools.mjs';

export const INFO = {
  name: 'behaviours',
  version: '3.2.1',
  title: 'Behaviours',
  description: 'Does everything once',
  websiteUrl: 'https://example.com/behaviours',
  icons: [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
};
export const INSTRUCTIONS = 'Use them *all*.\n\nThen stop. ☃';
export const CAPABILITIES = {
  logging: {},
  completions: {},
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  experimental: { 'com.example/experiment': { level: 3, nested: { on: true } } },
};
/** What no revision defines; the transports add it to the answer to the greeting. */
export const UNKNOWN_IN_GREETING = { 'x-greeting': { kept: [1, 'two', null] } };

export const METHODS = {
  'tools/list': (params, call) => page('tools', params, call),
  'prompts/list': (params, call) => page('prompts', params, call),
  'resources/list': (params, call) => page('resources', params, call),
  'resources/templates/list': () => ({ resourceTemplates: LISTS.resourceTemplates, _meta: { 'com.example/list': 1 } }),
  'tools/call'(params, call) {
    const tool = TOOLS[params.name];
    if (!tool) throw call.fail(-32602, `No tool is called ${params.name}`, { asked: params.name });
    return tool(params.arguments ?? {}, call, params);
  },
  'prompts/get'(params, call) {
    if (params.name === 'ask') return askForPrompt(call);
    if (params.name !== 'everything')
      throw call.fail(-32602, `No prompt is called ${params.name}`, { prompt: params.name });
    return RESULTS.prompt(params.arguments);
  },
  'resources/read'(params, call) {
    const result = RESULTS.resource(params.uri);
    if (result) return result;
    if (params.uri.startsWith('old:'))
      throw call.fail(-32002, `Resource not found: ${params.uri}`, { uri: params.uri });
    throw call.fail(-32602, `Nothing at ${params.uri} today`, { uri: params.uri, hint: 'try text://one' });
  },
  'resources/subscribe'(params, call) {
    call.record({ subscribed: params.uri });
    return { _meta: { 'com.example/subscribed': true } };
  },
  'resources/unsubscribe'(params, call) {
    call.record({ unsubscribed: params.uri });
    return {};
  },
  'completion/complete'({ ref, argument, context }, call) {
    if (argument.name === 'unknown') throw call.fail(-32602, 'No such argument', { argument: argument.name });
    const values =
      ref.type === 'ref/prompt'
        ? [`${argument.value}da`, `${argument.value}lan`]
        : Object.values(context?.arguments ?? {});
    return { completion: { values, total: 41, hasMore: true }, _meta: { 'com.example/completed': ref.type } };
  },
};

/** Requests that no revision has. */
export const CUSTOM = {
  'com.example/echo': (params) => ({ echoed: params ?? null, _meta: { 'com.example/echo': 1 } }),
  'com.example/refuse': (_params, call) => {
    throw call.fail(-31999, 'Refused by a method of our own', { why: ['one', 2] });
  },
};

function askForPrompt(call) {
  if (!call.input) throw call.fail(-32603, 'This SDK cannot ask by a result');
  const { responses, ask } = call.input;
  if (!responses?.who) return ask({ who: ['elicitation/create', { message: 'Who?', requestedSchema: NAME_FORM }] });
  return { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(responses.who) } }] };
}

export const NAME_FORM = {
  type: 'object',
  properties: { name: { type: 'string', title: 'Name', minLength: 2, default: 'Ada' } },
  required: ['name'],
};
