// Servers of the soak on stdin and stdout: `node servers.mjs v1|v2|rude`. Each can answer, wait for a cancel, ask and flood. The rude
// one also dies, hangs and talks nonsense when it is told to.
import { setTimeout as delay } from 'node:timers/promises';

const FORM = { message: 'Go on?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } };
const TOOLS = ['echo', 'wait', 'ask', 'flood', 'die', 'hang', 'nonsense'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
}));
const FLOOD = 300;
const text = (words) => ({ content: [{ type: 'text', text: words }] });

const ACTS = {
  echo: ({ words = '' }) => text(words),
  async wait(_args, { signal }) {
    await delay(60_000, undefined, { signal, ref: false }).catch(() => {});
    return text('waited');
  },
  async ask(_args, { ask }) {
    return text(JSON.stringify(await ask(FORM)));
  },
  async flood(_args, { log }) {
    for (let line = 0; line < FLOOD; line++) await log({ level: 'error', data: `line ${line} ${'x'.repeat(500)}` });
    return text('flooded');
  },
  die: () => process.exit(3),
  hang: () => new Promise(() => {}),
  nonsense() {
    process.stdout.write('this is not JSON\n{"jsonrpc":"2.0","id":"nobody asked","result":{}}\n{"half":\n');
    return text('after nonsense');
  },
};

const SERVE = {
  async v1() {
    const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    const server = new Server({ name: 'soak', version: '1' }, { capabilities: { tools: {}, logging: {} } });
    server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: TOOLS }));
    server.setRequestHandler(types.CallToolRequestSchema, ({ params }, extra) =>
      ACTS[params.name](params.arguments ?? {}, {
        signal: extra.signal,
        ask: (form) => extra.sendRequest({ method: 'elicitation/create', params: form }, types.ElicitResultSchema),
        log: (entry) => extra.sendNotification({ method: 'notifications/message', params: entry }),
      }),
    );
    await server.connect(new StdioServerTransport());
    process.stdin.once('end', () => process.exit(0));
  },
  async v2() {
    const [{ inputRequired, Server }, { serveStdio }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    serveStdio(() => {
      const server = new Server({ name: 'soak', version: '1' }, { capabilities: { tools: {}, logging: {} } });
      server.setRequestHandler('tools/list', () => ({ tools: TOOLS }));
      server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
        if (params.name === 'ask') {
          const answer = mcpReq.inputResponses?.go;
          return answer
            ? text(JSON.stringify(answer))
            : inputRequired({ inputRequests: { go: inputRequired.elicit(FORM) } });
        }
        return ACTS[params.name](params.arguments ?? {}, {
          signal: mcpReq.signal,
          log: (entry) => mcpReq.notify({ method: 'notifications/message', params: entry }),
        });
      });
      return server;
    });
  },
};

const [kind] = process.argv.slice(2);
await SERVE[kind === 'rude' ? 'v1' : kind]();
