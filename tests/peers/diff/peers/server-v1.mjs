// The behaviours as a server of SDK v1: its low-level class, so that results go out as they are written.
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ErrorCode, McpError, ResultSchema, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { CAPABILITIES, CUSTOM, INFO, INSTRUCTIONS, METHODS, UNKNOWN_IN_GREETING } from './features.mjs';

const TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

export function createV1Behaviours(record) {
  const capabilities = { ...CAPABILITIES, tasks: TASKS };
  const server = new Server(INFO, { capabilities, instructions: INSTRUCTIONS, taskStore: new InMemoryTaskStore() });
  const greet = server._oninitialize.bind(server);
  server._oninitialize = async (request) => ({ ...(await greet(request)), ...UNKNOWN_IN_GREETING });
  server.fallbackRequestHandler = async ({ method, params }, extra) => {
    const handler = METHODS[method] ?? CUSTOM[method];
    if (!handler) throw new McpError(ErrorCode.MethodNotFound, `Nothing is called ${method}`);
    return handler(params ?? {}, toCall(server, extra, record));
  };
  server.fallbackNotificationHandler = async () => {};
  return server;
}

function toCall(server, extra, record) {
  return {
    record,
    meta: extra._meta,
    signal: extra.signal,
    fail,
    notify: (method, params) => extra.sendNotification({ method, params }),
    push: (method, params) => server.notification({ method, params }),
    log: (level, data) => server.sendLoggingMessage({ level, data, logger: 'behaviours' }, extra.sessionId),
    ask: (method, params, how) => extra.sendRequest({ method, params }, ResultSchema, how),
    onceAnswered: (work) => setImmediate(() => work()),
    async createTask(settings, result) {
      const task = await extra.taskStore.createTask(settings);
      setImmediate(() => extra.taskStore.storeTaskResult(task.taskId, 'completed', result));
      return { task, _meta: { 'com.example/task': 1 } };
    },
  };
}

/** The SDK's own error adds words to the message; any error with a code is sent as it is. */
function fail(code, message, data) {
  if (code === ErrorCode.UrlElicitationRequired) return new UrlElicitationRequiredError(data.elicitations, message);
  return Object.assign(new Error(message), { code, data });
}
