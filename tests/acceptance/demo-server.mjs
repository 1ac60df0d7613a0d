// The fixture `demo`: every revision and the draft dialect on one process.
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'mcp-parley';
import { serveFlows } from 'mcp-parley/flow';
import { demoFlows } from './demo-flows.mjs';

const object = (properties = {}, required) => ({ type: 'object', properties, ...(required && { required }) });

export function createDemoServer(flowOptions = {}) {
  const server = createServer({ name: 'example-server', version: '1.0.0' });
  addWeather(server);
  addProbes(server);
  addAsks(server);
  addResources(server);
  addPrompts(server);
  serveFlows(server, demoFlows, flowOptions);
  return server;
}

/** One definition per revision group, because the specifications disagree on its argument and texts. */
function addWeather(server) {
  const location = object({ location: { type: 'string', description: 'City name' } }, ['location']);
  const description = 'Get current weather for a location';
  server.tool('get_weather', { description, input: location, only: { revisions: ['2024-11-05'] } }, ({ location }) => [
    { type: 'text', text: `Current weather in ${location}: 72°F, sunny` },
  ]);
  const city = object({ city: { type: 'string' } }, ['city']);
  server.tool(
    'get_weather',
    { description: 'Retrieve weather for a city', input: city, only: { dialects: ['draft'] } },
    () => ({
      temperature: 89,
      condition: 'Sunny',
    }),
  );
  server.tool(
    'get_weather',
    { description, input: location, only: { dialects: ['handshake', 'stateless'] } },
    ({ location }) => `The weather in ${location} is 72°F and sunny.`,
  );
}

function addProbes(server) {
  const probe = (name, handler, options = {}) =>
    server.tool(name, { description: `Probe: ${name}`, ...options }, handler);

  probe('probe_progress', (_, call) => {
    call.progress(50, 100);
    return 'done';
  });
  probe('probe_search', (_, call) => {
    call.progress(42, 100, 'Searching...');
    return 'done';
  });
  probe('probe_sleep', async ({ ms = 0 }, call) => {
    await sleep(ms, undefined, { signal: call.signal });
    return `slept ${ms} ms`;
  });
  probe('probe_log', (_, call) => {
    call.log('info', 'Operation completed successfully', 'mcp-server');
    return 'logged';
  });
  probe('probe_touch', ({ uri, resource }) => {
    server.touch(uri ?? `demo:///${resource}`);
    return 'touched';
  });
  probe('probe_content', () => [
    { type: 'text', text: 'Plain text content' },
    { type: 'image', data: 'base64-encoded-image-data', mimeType: 'image/jpeg' },
    {
      type: 'resource',
      resource: { uri: 'file:///path/to/resource', text: 'Resource content', mimeType: 'text/plain' },
    },
  ]);
  probe('probe_fail', () => {
    throw new Error('The probe failed, as it was asked to');
  });
  probe('probe_structured', () => ({ answer: 42 }), {
    output: object({ answer: { type: 'number' } }, ['answer']),
    annotations: { readOnlyHint: true },
  });
  addToolset(server, probe);
}

/** Adds one tool and removes another, announces both at once, then undoes it silently. */
function addToolset(server, probe) {
  const addDeprecated = () => server.tool('deprecated_tool', { description: 'To be removed' }, () => 'old');
  let deprecated = addDeprecated();
  probe('probe_toolset', () => {
    let added;
    server.batch(() => {
      added = server.tool('new_tool', { description: 'A new feature' }, () => 'new');
      deprecated.remove();
    });
    server.batch(
      () => {
        added.remove();
        deprecated = addDeprecated();
      },
      { silent: true },
    );
    return 'changed';
  });
}

function addAsks(server) {
  server.tool('probe_ping', { description: 'Pings the client' }, async (_, call) => {
    await call.ask.ping();
    return 'pong';
  });
  server.tool('probe_sampling', { description: 'Asks the model of the client' }, async (_, call) => {
    const { content } = await call.ask.sample({
      messages: [{ role: 'user', content: { type: 'text', text: 'What is 2+2?' } }],
      modelPreferences: { hints: [{ name: 'claude-3-sonnet' }], intelligencePriority: 0.8, speedPriority: 0.5 },
      systemPrompt: 'You are a helpful math tutor',
      maxTokens: 100,
    });
    return content.text;
  });
  server.tool('probe_roots', { description: 'Asks for the roots of the client' }, async (_, call) => {
    const roots = await call.ask.roots();
    return roots.map((root) => root.uri).join('\n');
  });
  server.tool('probe_elicit', { description: 'Asks the user for a name' }, async (_, call) => {
    const schema = object({ name: { type: 'string' } }, ['name']);
    const { action, content } = await call.ask.elicit({ message: 'What is your name?', schema, key: 'name' });
    return action === 'accept' ? `Hello, ${content.name}` : action;
  });
}

function addResources(server) {
  const uri = 'file:///path/to/file.txt';
  const listed = {
    uri,
    name: 'Important Document',
    description: 'A document containing important information',
    mimeType: 'text/plain',
  };
  server.resource('demo:///user_files', { name: 'user_files', only: { dialects: ['draft'] } }, () => 'files');
  server.resources({
    list: (cursor) =>
      cursor === undefined
        ? { resources: [listed] }
        : cursor === 'optional-cursor'
          ? { resources: [listed], nextCursor: 'optional-next-cursor' }
          : undefined,
    read: (asked) => (asked === uri ? [{ uri, mimeType: 'text/plain', text: 'File contents here...' }] : undefined),
  });
  const complete = {
    path: (value) =>
      [{ value: '/home/user/documents/', description: 'Documents folder' }].filter((entry) =>
        entry.value.startsWith(value),
      ),
  };
  server.template(
    'file:///{path}',
    { name: 'File System', description: 'Access to file system', mimeType: 'text/plain', complete },
    () => undefined,
  );
}

function addPrompts(server) {
  server.prompt(
    'summarize_code',
    {
      description: 'Create a summary of code changes',
      arguments: [{ name: 'language', description: 'Programming language', required: false }],
      complete: { language: (value) => ['python', 'typescript', 'rust'].filter((name) => name.startsWith(value)) },
    },
    ({ language = 'the' }) => {
      const name = language.charAt(0).toUpperCase() + language.slice(1);
      return {
        description: `Summarize the provided ${name} code`,
        messages: [{ role: 'user', content: { type: 'text', text: `Please summarize this ${name} code...` } }],
      };
    },
  );
}
