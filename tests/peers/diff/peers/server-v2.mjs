// The behaviours as a server of SDK v2, which serves both eras. A server is made for every connection or request.
import { inputRequired, ProtocolErrorCode, Server, UrlElicitationRequiredError } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CAPABILITIES, CUSTOM, INFO, INSTRUCTIONS, METHODS, UNKNOWN_IN_GREETING } from './features.mjs';

const ANYTHING = z.looseObject({});
const EXTENSIONS = { 'com.example/extension': { version: 2, nested: { on: true } } };

/** `notifier`: for what is said to every subscriber, where a connection ends with its answer. */
export function createV2Behaviours(record, { notifier } = {}) {
  const capabilities = { ...CAPABILITIES, extensions: EXTENSIONS };
  const server = new Server(INFO, { capabilities, instructions: INSTRUCTIONS });
  addToGreeting(server, '_oninitialize');
  addToGreeting(server, '_ondiscover');
  for (const [method, handler] of Object.entries(METHODS)) {
    server.setRequestHandler(method, ({ params }, context) =>
      handler(params ?? {}, toCall(server, context, { record, notifier })),
    );
  }
  for (const [method, handler] of Object.entries(CUSTOM)) {
    server.setRequestHandler(method, { params: ANYTHING }, (params, context) =>
      handler(params, toCall(server, context, { record, notifier })),
    );
  }
  server.fallbackNotificationHandler = async () => {};
  return server;
}

function addToGreeting(server, name) {
  const own = server[name].bind(server);
  server[name] = (request) => {
    const greeting = own(request);
    const add = (result) => ({ ...result, ...UNKNOWN_IN_GREETING });
    return greeting instanceof Promise ? greeting.then(add) : add(greeting);
  };
}

function toCall(server, { mcpReq }, { record, notifier }) {
  return {
    record,
    meta: mcpReq._meta,
    signal: mcpReq.signal,
    fail,
    notify: (method, params) => mcpReq.notify({ method, params }),
    push: (method, params) => (notifier ? notifier(method, params) : server.notification({ method, params })),
    log: (level, data) => mcpReq.log(level, data, 'behaviours'),
    ask: (method, params, how) => mcpReq.send({ method, params }, ANYTHING, how),
    onceAnswered: (work) => setImmediate(() => work()),
    input: {
      responses: mcpReq.inputResponses,
      state: mcpReq.requestState(),
      ask: (requests, requestState) =>
        inputRequired({
          inputRequests: Object.fromEntries(
            Object.entries(requests).map(([key, [method, params]]) => [key, { method, params }]),
          ),
          ...(requestState && { requestState }),
        }),
    },
  };
}

/** The SDK's own error adds words to the message; any error with a code is sent as it is. */
function fail(code, message, data) {
  if (code === ProtocolErrorCode.UrlElicitationRequired)
    return new UrlElicitationRequiredError(data.elicitations, message);
  return Object.assign(new Error(message), { code, data });
}
