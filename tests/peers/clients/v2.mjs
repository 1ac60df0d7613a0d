// The official client of SDK v2 behind the common interface of the suite.
import {
  Client,
  LOG_LEVEL_META_KEY,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ROOTS } from './answers.mjs';
import { toRef } from './v1.mjs';

const TRANSPORTS = {
  stdio: (way) => new StdioClientTransport({ ...way, stderr: 'inherit' }),
  http: ({ url }) => new StreamableHTTPClientTransport(url),
  sse: ({ url }) => new SSEClientTransport(url),
  memory: ({ transport }) => transport,
};

/** `mode`: legacy, auto or pin. */
export async function openV2Client({ way, transport, revision, mode, seen, answers }) {
  const client = new Client(
    { name: 'peers', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } },
      versionNegotiation: { mode: mode === 'pin' ? { pin: revision } : mode },
      ...(mode === 'legacy' && { supportedProtocolVersions: [revision] }),
    },
  );
  listen(client, seen, answers);
  const link = TRANSPORTS[transport](way);
  const closed = new Promise((resolve) => (client.onclose = resolve));
  await client.connect(link);
  const modern = client.getProtocolEra() === 'modern';
  return {
    revision: client.getNegotiatedProtocolVersion(),
    serverName: client.getServerVersion().name,
    instructions: client.getInstructions(),
    tools: async () => (await client.listTools()).tools,
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    prompts: async () => (await client.listPrompts()).prompts,
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: async (ref, argument) => (await client.complete({ ref: toRef(ref), argument })).completion,
    ping: () => client.ping(),
    ...(modern ? modernFace(client) : legacyFace(client)),
    async close() {
      if (transport === 'http' && !modern) await link.terminateSession();
      await client.close();
      await closed;
    },
  };
}

function legacyFace(client) {
  return {
    call: (name, args, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: args }, { signal, onprogress: onProgress }),
    changeRoots: () => client.sendRootsListChanged(),
    setLevel: (level) => client.setLoggingLevel(level),
    subscribe: (uri) => client.subscribeResource({ uri }),
    unsubscribe: (uri) => client.unsubscribeResource({ uri }),
  };
}

/** Levels travel with each request, and changes come on a stream of their own. */
function modernFace(client) {
  let level;
  const streams = new Map();
  return {
    call: (name, args, { signal, onProgress } = {}) => {
      const _meta = level && { [LOG_LEVEL_META_KEY]: level };
      return client.callTool({ name, arguments: args, ...(_meta && { _meta }) }, { signal, onprogress: onProgress });
    },
    setLevel: async (wanted) => void (level = wanted),
    async subscribe(uri) {
      streams.set(uri, await client.listen({ resourceSubscriptions: [uri] }));
    },
    async unsubscribe(uri) {
      await streams.get(uri).close();
    },
    async watchTools() {
      const stream = await client.listen({ toolsListChanged: true });
      return () => stream.close();
    },
  };
}

function listen(client, seen, answers) {
  client.setRequestHandler('elicitation/create', () => answers.elicit);
  client.setRequestHandler('sampling/createMessage', () => answers.sample);
  client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
  client.setNotificationHandler('notifications/message', ({ params }) => seen.add({ kind: 'log', ...params }));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    seen.add({ kind: 'updated', uri: params.uri }),
  );
  client.setNotificationHandler('notifications/tools/list_changed', () => seen.add({ kind: 'tools' }));
  client.onerror = (error) => seen.add({ kind: 'error', error });
}
