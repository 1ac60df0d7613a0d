// One message against the schema of its revision: its frame, and what its method or the request it answers says of it.
import { schemaOf } from './schemas.mjs';

const RESULTS = {
  initialize: 'InitializeResult',
  ping: 'EmptyResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'resources/subscribe': 'EmptyResult',
  'resources/unsubscribe': 'EmptyResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
  'completion/complete': 'CompleteResult',
  'logging/setLevel': 'EmptyResult',
  'tasks/get': 'GetTaskResult',
  'tasks/result': 'GetTaskPayloadResult',
  'tasks/cancel': 'CancelTaskResult',
  'tasks/list': 'ListTasksResult',
  'elicitation/create': 'ElicitResult',
  'sampling/createMessage': 'CreateMessageResult',
  'roots/list': 'ListRootsResult',
};

/** Error codes that have a definition of their own. */
const ERRORS = {
  [-32020]: 'HeaderMismatchError',
  [-32021]: 'MissingRequiredClientCapabilityError',
  [-32022]: 'UnsupportedProtocolVersionError',
};

/** Problems as text. `request` is what a response answers. */
export function checkMessage({ from, message, revision, request }) {
  const schema = schemaOf(revision);
  if (!schema) return [`there is no schema of revision ${revision}`];
  if (typeof message !== 'object' || message === null) return ['is not a message'];
  if ('method' in message) return checkCall(schema, from, message);
  if ('error' in message) return checkError(schema, message);
  return checkResult(schema, message, request);
}

function checkCall(schema, from, message) {
  const isRequest = 'id' in message;
  const side = from === 'client' ? 'Client' : 'Server';
  const definition = schema.definitionFor(`${side}${isRequest ? 'Request' : 'Notification'}`, message.method);
  const frame = schema.problems(isRequest ? 'JSONRPCRequest' : 'JSONRPCNotification', message);
  if (!definition) return [...frame, `a ${from} has no ${isRequest ? 'request' : 'notification'} ${message.method}`];
  return [...frame, ...schema.problems(definition, message)];
}

function checkError(schema, message) {
  const frame = schema.problems(schema.has('JSONRPCErrorResponse') ? 'JSONRPCErrorResponse' : 'JSONRPCError', message);
  const own = ERRORS[message.error?.code];
  return own && schema.has(own) ? [...frame, ...schema.problems(own, message)] : frame;
}

function checkResult(schema, message, request) {
  const frame = schema.problems(
    schema.has('JSONRPCResultResponse') ? 'JSONRPCResultResponse' : 'JSONRPCResponse',
    message,
  );
  if (!request) return [...frame, `answers ${JSON.stringify(message.id)}, which nobody asked`];
  const definition = resultOf(schema, request, message.result ?? {});
  if (!definition || !schema.has(definition)) return [...frame, `no result is known for ${request.method}`];
  return [...frame, ...schema.problems(definition, message.result)];
}

/** The unions of the schema would let one kind of result pass for another: here each is held to what it says it is. */
function resultOf(schema, { method, params }, result) {
  if (result.resultType === 'input_required') return 'InputRequiredResult';
  if (result.resultType !== undefined && result.resultType !== 'complete') return undefined;
  if (params?.task && 'task' in result && schema.has('CreateTaskResult')) return 'CreateTaskResult';
  return RESULTS[method];
}
