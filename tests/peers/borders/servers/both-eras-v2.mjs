// A server of SDK v2 that serves both eras: on stdio, or on a port (`--port`), where handshake clients have sessions. Each
// server says which era it serves, and does what a server may do to a client.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, UrlElicitationRequiredError, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const FORM = {
  message: 'Which city?',
  requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const QUESTION = { messages: [{ role: 'user', content: { type: 'text', text: 'Say it' } }], maxTokens: 10 };
const PAGE = { mode: 'url', message: 'Sign in', url: 'https://example.com/in', elicitationId: 'one' };
const text = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});

function create() {
  const heard = [];
  const mcp = new McpServer(
    { name: 'both', version: '1.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true }, tools: { listChanged: true } } },
  );
  const { server } = mcp;
  const tool = (name, handler) => mcp.registerTool(name, {}, handler);
  tool('pid', () => text(String(process.pid)));
  tool('revision', () => text(server.getNegotiatedProtocolVersion() ?? 'none'));
  tool('elicit', async () => text((await server.elicitInput(FORM)).content.city));
  tool('sample', async () => text((await server.createMessage(QUESTION)).content.text));
  tool('sample_with_tools', async () => {
    const tools = [{ name: 'look', inputSchema: { type: 'object' } }];
    return text((await server.createMessage({ ...QUESTION, tools })).stopReason);
  });
  tool('roots', async () => text((await server.listRoots()).roots.map(({ uri }) => uri).join(' ')));
  tool('ping', async () => text(await server.ping()));
  tool('link', async () => text((await server.elicitInput(PAGE)).action));
  tool('link_first', () => {
    throw new UrlElicitationRequiredError([PAGE]);
  });
  tool('late_log', () => {
    setImmediate(() => void server.sendLoggingMessage({ level: 'info', data: 'late' }));
    return text('soon');
  });
  tool('heard', () => text(heard));
  tool('ask_in_rounds', ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.city;
    return answer ? text(answer.content.city) : inputRequired({ inputRequests: { city: inputRequired.elicit(FORM) } });
  });
  tool('answer_in_rounds', ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.city;
    return answer ? text(answer) : inputRequired({ inputRequests: { city: inputRequired.elicit(FORM) } });
  });
  mcp.registerResource('note', 'note://one', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
  for (const verb of ['subscribe', 'unsubscribe']) {
    server.setRequestHandler(`resources/${verb}`, ({ params }) => {
      heard.push(`${verb} ${params.uri}`);
      return {};
    });
  }
  server.setNotificationHandler('notifications/roots/list_changed', () => void heard.push('roots changed'));
  server.setNotificationHandler('custom/hello', { params: z.looseObject({}) }, () => void heard.push('hello'));
  return mcp;
}

const port = process.argv.indexOf('--port');
if (port === -1) serveStdio(create);
else {
  const sessions = new Map();
  const stateless = toNodeHandler(createMcpHandler(create, { legacy: 'reject' }));
  const http = createServer((request, response) => {
    if (request.headers['mcp-protocol-version'] === '2026-07-28') return stateless(request, response);
    const transport = sessions.get(request.headers['mcp-session-id']);
    return transport ? transport.handleRequest(request, response) : open(request, response);
  });
  const open = async (request, response) => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await create().connect(transport);
    await transport.handleRequest(request, response);
  };
  http.listen(Number(process.argv[port + 1]), '127.0.0.1', () =>
    console.log(`http://127.0.0.1:${http.address().port}/mcp`),
  );
}
