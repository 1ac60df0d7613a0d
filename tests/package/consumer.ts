// A user's library on top of Parley: it exports what each public function returns, without naming its type.
// emitted-types.test.ts writes its declarations, which fails if the package does not export a type that they need.
import {
  connect,
  createGateway,
  createLog,
  createServer,
  ExternalMCPServer,
  FrontMCPServer,
  MiddlewareMCPServer,
  respond,
} from 'mcp-parley';
import {
  connectFlows,
  createSqliteStore,
  createTokens,
  exploreFile,
  f,
  flow,
  FlowSessions,
  memoryStore,
  serveFlows,
  TokenFlowSessions,
} from 'mcp-parley/flow';
import * as steps from 'mcp-parley/middleware';
import { manualClock, testFlow, testGateway, testServer, testStep } from 'mcp-parley/testing';

export const server = createServer({ name: 'consumer', version: '1.0.0' });
export const tool = server.tool('echo', { description: 'Echoes.' }, async (args, call) => {
  const answer = await call.ask.elicit({ message: 'Echo?', schema: { type: 'object', properties: {} } });
  return answer.action;
});
export const listening = await server.listen({ port: 0 });
export const gateway = createGateway({ servers: { own: server }, steps: [steps.filter({ deny: ['*'] })] });
export const gatewayPort = await gateway.listen({ port: 0 });
export const gatewayPipe = await gateway.listen({ stdio: true });
export const endpoint = gateway.endpoint();
export const { fetch: fetchHandler } = endpoint;
export const called = await gateway.callTool('echo');
export const client = await connect('http://127.0.0.1:8470/mcp');
export const tools = await client.listTools();
export const { server: clientServer } = client;
export const log = createLog();
export const front = new FrontMCPServer(new MiddlewareMCPServer(new ExternalMCPServer({ command: 'x' }), []));

export const built = [
  steps.approve({ when: 'always' }),
  steps.cache({}),
  steps.log(),
  steps.redact({}),
  steps.timeout(1),
];
export const onCall = steps.onCall(async (_exchange, next) => next());
export const onMethod = steps.onMethod('tools/call', async (_exchange, next) => next());
export const perClient = steps.perClient(() => steps.filter({}));
export const refused = steps.onCall(() => respond({ content: [] }));
export const loaded = await steps.loadStep('step.ts');
export const watched = await steps.watchStep('step.ts', { log });

export const fields = { name: f.text(), seats: f.number() };
export const booking = flow({ name: 'book', description: 'Books.' }, async (ask) => {
  const name = await ask.text('name');
  const form = await ask.form('details', fields);
  return { name, form, stored: await ask.step('store', async () => ({ id: 1 })) };
});
export const store = createSqliteStore({ path: 'sessions.db' });
export const flows = serveFlows(server, [booking], { store: memoryStore() });
export const sessions = new FlowSessions([booking], { store: memoryStore() });
export const turn = await sessions.start({ tool: 'book', args: {}, principal: 'ada' });
export const tokens = createTokens({ keys: ['a key of this test'] });
export const tokenSessions = new TokenFlowSessions([booking], { tokens });
export const flowClient = await connectFlows('http://127.0.0.1:8470/mcp');
export const explored = await exploreFile('flows.ts');

export const clock = manualClock();
export const flowTest = testFlow(booking);
export const gatewayTest = await testGateway({ servers: {} });
export const serverTest = await testServer(server);
export const stepTest = await testStep(steps.filter({}));
