// A server of the official SDKs whose tools stop wherever the test wants them to, and ask without naming the call:
//   node asks.mjs v1|v2 stdio|http DIRECTOR [COPIES]
// COPIES: there are as many more of the tools that ask, such as `pay-0`.
// Each tool takes `who`. At every step it reports to the director and goes on when the director answers.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { z } from 'zod';

const [sdk, transport, director, copies = '0'] = process.argv.slice(2);

/** Reports a step; resolves with what the director says once it lets the tool go on. */
async function at(step, about = '') {
  const query = new URLSearchParams({ step, about, pid: String(process.pid) });
  return (await fetch(`${director}/?${query}`, { method: 'POST' })).text();
}

const FORM = { type: 'object', properties: { pin: { type: 'string' } }, required: ['pin'] };
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const inWords = (promise) =>
  promise.then((value) => JSON.stringify(value)).catch((error) => `refused: ${error.message}`);

function create({ McpServer, toSchema }) {
  const server = new McpServer({ name: 'asks', version: '1.0.0' }, { capabilities: { tools: {}, logging: {} } });
  const tool = (name, handler) =>
    server.registerTool(name, { inputSchema: toSchema({ who: z.string() }) }, ({ who }, extra) => handler(who, extra));
  const ask = (message) => inWords(server.server.elicitInput({ message, requestedSchema: FORM }, { timeout: 600_000 }));

  tool('report', async (who, extra) => {
    await at(`report ${who}`);
    const { progressToken } = (extra.mcpReq ?? extra)._meta ?? {};
    const params = { progressToken, progress: 1, message: `progress of ${who}` };
    if (progressToken !== undefined) await server.server.notification({ method: 'notifications/progress', params });
    return text(`the report of ${who}`);
  });
  const numbers = Array.from({ length: Number(copies) }, (_, index) => index);
  for (const name of ['pay', 'book'].flatMap((one) => [one, ...numbers.map((number) => `${one}-${number}`)])) {
    tool(name, async (who) => {
      await at(`${name} ${who}`);
      const answer = await ask(`${name}: use the card of ${who}?`);
      await at(`${name} ${who} answered`, answer);
      return text(`${name} ${who}: ${answer}`);
    });
  }
  tool('roots', async (who) => {
    await at(`roots ${who}`);
    return text(await inWords(server.server.listRoots(undefined, { timeout: 600_000 })));
  });
  const say = async (who) => {
    await server.server.sendLoggingMessage({ level: 'error', data: `a secret of ${who}` });
    await server.server.notification({ method: 'notifications/acme/news', params: { about: `news of ${who}` } });
  };
  tool('log', async (who) => {
    await at(`log ${who}`);
    await say(who);
    return text(`logged for ${who}`);
  });
  // Says the same after its answer.
  tool('log-later', async (who) => {
    void at(`log-later ${who}`)
      .then(() => say(who))
      .then(() => at(`log-later ${who} said`));
    return text(`later for ${who}`);
  });
  return server;
}

const sdks = {
  async v1() {
    const [{ McpServer }, { StdioServerTransport }, { StreamableHTTPServerTransport }] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/mcp.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
    ]);
    const make = () => create({ McpServer, toSchema: (shape) => shape });
    return { make, Stdio: StdioServerTransport, Http: StreamableHTTPServerTransport };
  },
  async v2() {
    const [{ McpServer }, { StdioServerTransport }, { NodeStreamableHTTPServerTransport }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
      import('@modelcontextprotocol/node'),
    ]);
    const make = () => create({ McpServer, toSchema: (shape) => z.object(shape) });
    return { make, Stdio: StdioServerTransport, Http: NodeStreamableHTTPServerTransport };
  },
};

const { make, Stdio, Http } = await sdks[sdk]();
if (transport === 'stdio') await make().connect(new Stdio());
else {
  const sessions = new Map();
  const open = async () => {
    const channel = new Http({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, channel),
    });
    await make().connect(channel);
    return channel;
  };
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const channel = id === undefined ? await open() : sessions.get(id);
    if (channel) return channel.handleRequest(request, response);
    response.writeHead(404).end();
  });
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
