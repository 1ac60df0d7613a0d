// What our side may say though the official schema of the revision does not know it. One list; each entry with its reason.
// Whatever is not listed here and does not fit the schema fails the run.
const TASKS = 'io.modelcontextprotocol/tasks';

export const EXCEPTIONS = [
  {
    name: 'id-null',
    reason:
      'JSON-RPC 2.0 demands id null when the request could not be read; the schemas know only string and integer.',
    covers: ({ message }) => 'error' in message && message.id === null,
  },
  {
    name: 'draft-dialect',
    reason: 'The draft dialect was never an MCP revision and has no schema.',
    covers: ({ revision }) => revision === 'draft',
  },
  {
    name: 'interaction',
    reason: 'interaction.* are the methods of MCP Flow.',
    covers: ({ message, request }) => (request?.method ?? message.method ?? '').startsWith('interaction.'),
  },
  {
    name: 'completion-objects',
    reason: 'The acceptance kit for 2024-11-05 wants completions as { value, description }; the schema knows strings.',
    covers: ({ revision, request, problems }) =>
      revision === '2024-11-05' &&
      request?.method === 'completion/complete' &&
      problems.every((problem) => /^\/completion\/values\/\d+ must be string$/.test(problem)),
  },
  {
    name: 'tasks-extension',
    reason:
      'Tasks left the core with 2026-07-28: requests, results and notifications of the extension are not in its schema.',
    covers: ({ revision, message, request }) =>
      revision === '2026-07-28' &&
      (/^(notifications\/tasks$|tasks\/)/.test(request?.method ?? message.method ?? '') ||
        (message.result?.resultType === 'task' && TASKS in (clientCapabilities(request).extensions ?? {}))),
  },
  {
    name: 'sse-session',
    reason: 'A session of HTTP+SSE may be opened by POST /sse; the body of the answer is not a JSON-RPC message.',
    covers: ({ message }) => Object.keys(message).join() === 'sessionId,endpoint',
  },
  {
    name: 'kit-image',
    reason: 'The acceptance kit wants an image back whose data are the words "base64-encoded-image-data".',
    covers: ({ message, request }) =>
      request?.method === 'tools/call' &&
      message.result?.content?.some(({ type, data }) => type === 'image' && data === 'base64-encoded-image-data'),
  },
];

/** The exception that covers a finding, if any. */
export function exceptionFor(finding) {
  return EXCEPTIONS.find(({ covers }) => covers(finding));
}

function clientCapabilities(request) {
  return request?.params?._meta?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
}
