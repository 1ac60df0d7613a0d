// Parley's client behind the common interface of the suite.
import { connect, createLog } from '../harness/parley.mjs';
import { ROOTS } from './answers.mjs';

export async function openParleyClient({ way, transport, revision, seen, answers }) {
  const client = await connect(toAddress(way, transport), {
    name: 'peers',
    version: '1.0.0',
    revision,
    onElicit: () => answers.elicit,
    elicitUrls: true,
    onSample: () => answers.sample,
    sampleTools: true,
    roots: ROOTS,
    log: createLog({ level: 'error' }),
  });
  const { server } = client;
  client.on('log', ({ entry }) => seen.add({ kind: 'log', ...entry }));
  client.on('tools', () => seen.add({ kind: 'tools' }));
  if (server.dialect === 'draft') client.on('resource', ({ uri }) => seen.add({ kind: 'updated', uri }));
  let unsubscribe;
  return {
    revision: server.dialect === 'draft' ? 'draft' : server.revision,
    serverName: server.info.name,
    instructions: server.instructions,
    tools: () => client.listTools(),
    resources: () => client.listResources(),
    templates: () => client.listResourceTemplates(),
    prompts: () => client.listPrompts(),
    call: (name, args, options) => client.callTool(name, args, options),
    async callAsTask(name, args) {
      const states = [];
      const result = await client.callTool(name, args, { task: true, onTask: ({ status }) => states.push(status) });
      return { states, result };
    },
    read: (uri) => client.readResource(uri),
    prompt: (name, args) => client.getPrompt(name, args),
    complete: (ref, argument) => client.complete(ref, argument),
    setLevel: (level) => client.setLogLevel(level),
    async subscribe(uri) {
      unsubscribe = await client.subscribe(uri, (updated) => seen.add({ kind: 'updated', uri: updated }));
    },
    unsubscribe: () => unsubscribe(),
    changeRoots: () => client.setRoots(ROOTS),
    ping: () => client.ping(),
    async close() {
      await client.close();
      await client.closed;
    },
  };
}

function toAddress({ command, args, url, transport: end }, transport) {
  if (command) return { command, args };
  if (end) return end;
  return transport === 'sse' ? { url, transport: 'http+sse' } : String(url);
}
