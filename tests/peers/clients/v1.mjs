// The official client of SDK v1 behind the common interface of the suite.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { WebSocket } from 'ws';
import { allPages } from './all-pages.mjs';
import { ROOTS } from './answers.mjs';

// Its WebSocket transport is written for browsers; Node has this class from version 22 on.
globalThis.WebSocket ??= WebSocket;

const TRANSPORTS = {
  stdio: (way) => new StdioClientTransport({ ...way, stderr: 'inherit' }),
  http: ({ url }) => new StreamableHTTPClientTransport(url),
  sse: ({ url }) => new SSEClientTransport(url),
  websocket: ({ url }) => new WebSocketClientTransport(url),
  memory: ({ transport }) => transport,
};

export async function openV1Client({ way, transport, seen, answers }) {
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } };
  const client = new Client({ name: 'peers', version: '1.0.0' }, { capabilities });
  listen(client, seen, answers);
  const link = TRANSPORTS[transport](way);
  const agreed = watchAgreement(link);
  const closed = new Promise((resolve) => (client.onclose = resolve));
  await client.connect(link);
  return {
    revision: agreed(),
    serverName: client.getServerVersion().name,
    instructions: client.getInstructions(),
    tools: () => allPages((params) => client.listTools(params), 'tools'),
    resources: () => allPages((params) => client.listResources(params), 'resources'),
    templates: () => allPages((params) => client.listResourceTemplates(params), 'resourceTemplates'),
    prompts: () => allPages((params) => client.listPrompts(params), 'prompts'),
    call: (name, args, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: args }, undefined, { signal, onprogress: onProgress }),
    callAsTask: (name, args) => callAsTask(client, name, args),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: async (ref, argument) => (await client.complete({ ref: toRef(ref), argument })).completion,
    setLevel: (level) => client.setLoggingLevel(level),
    subscribe: (uri) => client.subscribeResource({ uri }),
    unsubscribe: (uri) => client.unsubscribeResource({ uri }),
    changeRoots: () => client.sendRootsListChanged(),
    ping: () => client.ping(),
    async close() {
      if (transport === 'http') await link.terminateSession();
      await client.close();
      await closed;
    },
  };
}

export function toRef(ref) {
  return 'prompt' in ref ? { type: 'ref/prompt', name: ref.prompt } : { type: 'ref/resource', uri: ref.template };
}

function listen(client, seen, answers) {
  client.setRequestHandler(types.ElicitRequestSchema, () => answers.elicit);
  client.setRequestHandler(types.CreateMessageRequestSchema, () => answers.sample);
  client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: ROOTS }));
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) =>
    seen.add({ kind: 'log', ...params }),
  );
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) =>
    seen.add({ kind: 'updated', uri: params.uri }),
  );
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => seen.add({ kind: 'tools' }));
  client.onerror = (error) => seen.add({ kind: 'error', error });
}

/** The client does not tell which version it agreed on; it tells the transport. */
function watchAgreement(link) {
  let agreed;
  const own = link.setProtocolVersion?.bind(link);
  link.setProtocolVersion = (version) => {
    agreed = version;
    own?.(version);
  };
  return () => agreed;
}

async function callAsTask(client, name, args) {
  const states = [];
  const stream = client.experimental.tasks.callToolStream({ name, arguments: args }, types.CallToolResultSchema, {
    task: { ttl: 60_000 },
  });
  for await (const message of stream) {
    if (message.type === 'taskCreated' || message.type === 'taskStatus') states.push(message.task.status);
    else if (message.type === 'result') return { states, result: message.result };
    else throw message.error;
  }
  throw new Error('the task ended without a result');
}
