// The reference server, written with the official SDK v2. It is created for every request or connection, so longer-lived state
// belongs to the factory.
import { McpServer, ResourceTemplate, completable, inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { FORM, NAME, PROMPT, QUESTION, RESOURCES, TEMPLATE, TOOLS } from './reference.mjs';
import { greeting, named, note, pageOfResources, startingWith, text } from './reference.mjs';
import { Waits } from './waits.mjs';

const CAPABILITIES = { logging: {}, resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } };

/** `touch` and `grow` tell of changes; default: the connection of the server itself. */
export function createV2Factory({ revisions, touch, grow } = {}) {
  const waits = new Waits();
  return () => {
    const server = new McpServer(
      { name: NAME, version: '1.0.0' },
      {
        capabilities: CAPABILITIES,
        instructions: 'For tests',
        ...(revisions && { supportedProtocolVersions: revisions }),
      },
    );
    addTools(server, waits);
    addChanges(server, {
      touch: touch ?? ((uri) => server.server.sendResourceUpdated({ uri })),
      grow: grow ?? (() => server.sendToolListChanged()),
    });
    addAsks(server);
    addResources(server);
    const argsSchema = z.object({ name: completable(z.string(), startingWith) });
    server.registerPrompt(PROMPT, { argsSchema }, (args) => ({ messages: greeting(args.name) }));
    return server;
  };
}

function addTools(server, waits) {
  const tool = (name, shape, handler, options = {}) => {
    server.registerTool(name, { description: TOOLS[name], inputSchema: z.object(shape), ...options }, handler);
  };
  const number = z.number();
  tool('echo', { text: z.string() }, (args) => text(args.text));
  const add = ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } });
  tool('sum', { a: number, b: number }, add, { outputSchema: z.object({ sum: number }) });
  tool('fail', {}, () => {
    throw new Error('It failed');
  });
  tool('count', { to: number, key: z.string() }, async ({ to, key }, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (let step = 1; step <= to; step++) {
      const params = { progressToken, progress: step, total: to, message: `step ${step}` };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    await waits.hold(key);
    return text('counted');
  });
  const key = { key: z.string() };
  tool('go', key, (args) => {
    waits.release(args.key);
    return text('');
  });
  tool('wait', key, (args, { mcpReq }) => waits.wait(args.key, mcpReq.signal));
  tool('waiting', key, (args) => waits.started(args.key).then(() => text('yes')));
  tool('aborted', key, (args) => waits.aborted(args.key).then(() => text('yes')));
  tool('log', { level: z.string(), text: z.string() }, async (args, { mcpReq }) => {
    await mcpReq.log(args.level, args.text, 'reference');
    return text('logged');
  });
}

function addChanges(server, { touch, grow }) {
  server.registerTool('touch', { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
    await touch(uri);
    return text('touched');
  });
  server.registerTool('grow', {}, async () => {
    await grow();
    return text('changed');
  });
}

/** Written once for both eras: the SDK asks by requests where the era has them. */
function addAsks(server) {
  const tool = (name, question, answer) => {
    server.registerTool(name, { description: TOOLS[name] }, ({ mcpReq }) => {
      const response = mcpReq.inputResponses?.it;
      return response ? answer(response) : inputRequired({ inputRequests: { it: question } });
    });
  };
  tool('ask_name', inputRequired.elicit(FORM), named);
  tool('ask_model', inputRequired.createMessage(QUESTION), ({ content }) => text(content.text));
  tool('ask_roots', inputRequired.listRoots(), ({ roots }) => text(roots.map(({ uri }) => uri).join(' ')));
}

function addResources(server) {
  for (const uri of RESOURCES) server.registerResource(uri, uri, {}, () => note(uri));
  const template = new ResourceTemplate(TEMPLATE, { list: undefined, complete: { author: startingWith } });
  server.registerResource('notes', template, {}, (uri) => note(uri.href));
  server.server.setRequestHandler('resources/list', ({ params }) => pageOfResources(params?.cursor));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}
