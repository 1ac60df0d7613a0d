// The client under test: the suite starts `node client.mjs <url of its mock server>` and judges what arrives there. Which
// scenario it is stands in MCP_CONFORMANCE_SCENARIO. The revision is not pinned: finding out what the other side speaks is
// part of what is tested (MCP_CONFORMANCE_PROTOCOL_VERSION only tells what that is going to be).
//
// By path and not by name: this folder has a package.json of its own, so the package cannot import itself from here.
import { connect } from '../../dist/_entries/index.js';
import { authOf } from './auth-of.mjs';

const url = process.argv[2];
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

const scenarios = {
  // initialize with version and clientInfo; then anything.
  initialize: () => withClient((client) => client.listTools()),

  tools_call: () =>
    withClient(async (client) => {
      await client.listTools();
      await client.callTool('add_numbers', { a: 5, b: 3 });
    }),

  // The user accepts and fills in nothing: the library must fill in the defaults of the schema before it answers.
  'elicitation-sep1034-client-defaults': () =>
    withClient(
      async (client) => {
        await client.listTools();
        await client.callTool('test_client_elicitation_defaults', {});
      },
      { onElicit: async () => ({ action: 'accept', content: {} }) },
    ),

  // The call's stream ends without an answer: GET with Last-Event-ID, `retry` (500 ms) after the end.
  'sse-retry': () =>
    withClient(async (client) => {
      await client.listTools();
      await client.callTool('test_reconnection', {});
    }),

  // The first POST is refused with -32022; every POST must carry version header and _meta, also the one after it.
  'request-metadata': () =>
    withClient(async (client) => {
      await client.listTools();
      await client.callTool('any_tool', {});
    }),

  'sep-2322-client-request-state': callInRounds,

  // Mcp-Method everywhere, Mcp-Name on calls, reads and prompts; URIs literally.
  'http-standard-headers': () =>
    withClient(async (client) => {
      for (const { name } of toolsOf(await client.listTools())) await client.callTool(name, {});
      for (const { uri } of entriesOf(await client.listResources(), 'resources')) await client.readResource(uri);
      for (const { name } of entriesOf(await client.listPrompts(), 'prompts')) await client.getPrompt(name, {});
    }),

  // Mcp-Param-* from x-mcp-header; among the arguments is a null where the schema says boolean: it must be sent as it is.
  'http-custom-headers': () =>
    withClient(async (client) => {
      await client.listTools();
      for (const { name, arguments: args } of context.toolCalls) await client.callTool(name, args);
    }),

  // Calls whatever is listed: tools with a bad x-mcp-header must not be.
  'http-invalid-tool-headers': () =>
    withClient(async (client) => {
      for (const { name } of toolsOf(await client.listTools())) await client.callTool(name, { region: 'us-west1' });
    }),

  // A schema with a $ref into the network is listed and never followed. The mock has no tools/call.
  'json-schema-ref-no-deref': () => withClient((client) => client.listTools()),

  'json-schema-2020-12-preservation': () =>
    withClient(async (client) => {
      const tools = toolsOf(await client.listTools());
      const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
      await client.callTool('json_schema_echo', { schema: inputSchema });
    }),
};

/** Authorization: the login page of the mock redirects at once, so a fetch of it is the person. */
async function logInAndCall() {
  const client = await open({ onLogin: (page) => fetch(page).then((response) => response.text()) }, { auth: authOf() });
  const tools = toolsOf(await client.listTools());
  for (const { name } of tools) await client.callTool(name, {});
  await client.close();
}

/** requestState comes back byte for byte, under a new id, only if there was one, and never in another call's request. */
async function callInRounds() {
  let whileWaiting;
  const onElicit = async () => {
    // In the midst of a round another call goes out, which must show no trace of it.
    whileWaiting ??= client.callTool('test_mrtr_unrelated', {});
    await whileWaiting;
    return { action: 'accept', content: { confirmed: true } };
  };
  const client = await open({ onElicit });
  await client.listTools();
  await client.callTool('test_mrtr_echo_state', {});
  await client.callTool('test_mrtr_no_state', {});
  // Answers without resultType: complete, and not to be tried again.
  await client.callTool('test_mrtr_no_result_type', {});
  await client.close();
}

async function withClient(use, options) {
  const client = await open(options);
  await use(client);
  await client.close();
}

function open(options = {}, address = {}) {
  return connect(
    { url, ...address },
    {
      onElicit: async () => ({ action: 'accept', content: {} }),
      onSample: async () => ({
        role: 'assistant',
        content: { type: 'text', text: 'A test response' },
        model: 'test-model',
        stopReason: 'endTurn',
      }),
      roots: [{ uri: 'file:///test/root', name: 'Test Root' }],
      approve: async () => true,
      ...options,
    },
  );
}

function toolsOf(listed) {
  return entriesOf(listed, 'tools');
}

function entriesOf(listed, kind) {
  return Array.isArray(listed) ? listed : listed[kind];
}

const play = scenario.startsWith('auth/') ? logInAndCall : scenarios[scenario];
if (play === undefined) {
  process.stderr.write(`client.mjs does not know the scenario ${scenario}\n`);
  process.exit(1);
}
try {
  await play();
  // Not left to the event loop: a mock may hold a stream open, and the suite waits for this process.
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error?.stack ?? error}\n`);
  process.exit(1);
}
