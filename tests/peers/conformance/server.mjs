// The fixture of the official suite, made with SDK v2: one factory for both eras. It asks by requests of its own where the era
// has them, and by results where it does not. Written as the SDK's documentation shows it, and with nothing of Parley.
import { setTimeout as delay } from 'node:timers/promises';
import { completable, fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { embedded, image, PNG, text, WAV } from '../../conformance/fixture/samples.mjs';
import { addAskingTools } from './asking-tools.mjs';
import { addRoundTools, STATES } from './round-tools.mjs';
import { SCHEMA_2020_12 } from './schema.mjs';

const HINT = { ttlMs: 1000, cacheScope: 'private' };
const CACHEABLE = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
];

/** `changes`: tells that a list has changed, where the connection ends with its answer; default: the connection itself. */
export function createConformanceFixture({ changes } = {}) {
  const server = new McpServer(
    { name: 'sdk-conformance', version: '1.0.0' },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
      },
      cacheHints: Object.fromEntries(CACHEABLE.map((method) => [method, HINT])),
      requestState: { verify: (state, context) => STATES.verify(state, context) },
    },
  );
  addContentTools(server);
  addTimedTools(server);
  addSchemaTools(server);
  addChangeTools(
    server,
    changes ?? { tools: () => server.sendToolListChanged(), prompts: () => server.sendPromptListChanged() },
  );
  addAskingTools(server);
  addRoundTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}

function addContentTools(server) {
  const tool = (name, content) => server.registerTool(name, { description: name }, () => ({ content }));
  // First in the list: one scenario calls the first tool there is, without arguments, and wants a result.
  tool('test_simple_text', [text('This is a simple text response for testing.')]);
  tool('test_image_content', [image()]);
  tool('test_audio_content', [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]);
  tool('test_embedded_resource', [
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]);
  tool('test_multiple_content_types', [
    text('Multiple content types test:'),
    image(),
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]);
  server.registerTool('test_error_handling', { description: 'Always fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
}

function addTimedTools(server) {
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Reports progress three times' },
    async ({ mcpReq }) => {
      const { progressToken } = mcpReq._meta ?? {};
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        }
        await delay(50);
      }
      return { content: [text('Progress reported.')] };
    },
  );
  server.registerTool('test_tool_with_logging', { description: 'Logs three times' }, async ({ mcpReq }) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', words);
      await delay(50);
    }
    return { content: [text('Logged three messages.')] };
  });
  server.registerTool('test_logging_tool', { description: 'Logs once' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'Only clients that asked for a level may see this');
    return { content: [text('Logged one message.')] };
  });
  server.registerTool(
    'test_reconnection',
    { description: 'Lets go of its stream and answers later' },
    async ({ http }) => {
      http?.closeSSE?.();
      await delay(100);
      return { content: [text('Reconnection test completed successfully.')] };
    },
  );
}

function addSchemaTools(server) {
  const rich = { description: 'Tool with JSON Schema 2020-12 features', inputSchema: fromJsonSchema(SCHEMA_2020_12) };
  server.registerTool('json_schema_2020_12_tool', rich, (args) => ({
    content: [text(`Received ${JSON.stringify(args)}`)],
  }));
  const region = { type: 'string', description: 'Mirrored into a header', 'x-mcp-header': 'Region' };
  const inputSchema = fromJsonSchema({
    type: 'object',
    properties: { region, query: { type: 'string' } },
    required: ['region'],
  });
  server.registerTool(
    'test_x_mcp_header',
    { description: 'Has an argument that is mirrored into a header', inputSchema },
    (args) => ({
      content: [text(`Region: ${args.region}`)],
    }),
  );
}

/** What the server offers stays the same; that it changed is what the suite wants to hear. */
function addChangeTools(server, changes) {
  server.registerTool('test_trigger_tool_change', { description: 'Tells that tools changed' }, async () => {
    await changes.tools();
    return { content: [text('Tools changed.')] };
  });
  server.registerTool('test_trigger_prompt_change', { description: 'Tells that prompts changed' }, async () => {
    await changes.prompts();
    return { content: [text('Prompts changed.')] };
  });
}

function addResources(server) {
  const fixed = (uri, mimeType, contents) =>
    server.registerResource(uri, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, ...contents }] }));
  fixed('test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  fixed('test://static-binary', 'image/png', { blob: PNG });
  fixed('test://watched-resource', 'text/plain', { text: 'Watched resource content' });
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) => ({
    contents: [
      {
        uri: uri.href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
  }));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function addPrompts(server) {
  const messages = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
  const words = ['paris', 'park', 'party', 'test', 'testValue1'];
  server.registerPrompt('test_simple_prompt', { description: 'Without arguments' }, () =>
    messages(text('This is a simple prompt for testing.')),
  );
  const argsSchema = z.object({
    arg1: completable(z.string(), (value) => words.filter((word) => word.startsWith(value))),
    arg2: z.string(),
  });
  server.registerPrompt('test_prompt_with_arguments', { description: 'Two arguments', argsSchema }, ({ arg1, arg2 }) =>
    messages(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Embeds a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      messages(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () =>
    messages(image(), text('Please analyze the image above.')),
  );
}
