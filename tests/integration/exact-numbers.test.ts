// Numbers that JavaScript cannot represent pass every built-in step as they were sent, on their way there and back, whatever the step changes beside
// them: names, schemas, hidden characters, secrets, arguments.
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import { createLog } from '../../src/kernel/base/log.ts';
import type { Step } from '../../src/kernel/step.ts';
import * as steps from '../../src/_entries/middleware.ts';

const BIG = '12345678901234567890';
/** Tag characters, which some people and no model can see. */
const HIDDEN = '\u{E0041}\u{E0042}';
const OWN = `"n":${BIG},"f":1.0`;
const DEEP = `{${OWN},"text":"mail ada@example.com${HIDDEN}","list":[${BIG},"x${HIDDEN}",{${OWN},"y":"${HIDDEN}"}]}`;
const RESULTS: Record<string, string> = {
  initialize: `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"s","version":"1"}}`,
  'tools/list': `{"tools":[{"name":"echo","description":"E${HIDDEN}","title":null,"inputSchema":{"type":"object","properties":{"a":true,"n":{"type":"integer","maximum":${BIG}}}},"_meta":${DEEP}}],"x-tag":${BIG},"_meta":{${OWN}}}`,
  'resources/list': `{"resources":[{"uri":"a://b","name":"b","title":null,"size":${BIG},"_meta":${DEEP}}],"x-tag":${BIG}}`,
  'tools/call': `{"content":[{"type":"text","text":"${HIDDEN}","_meta":${DEEP}}],"structuredContent":${DEEP},"_meta":{${OWN}}}`,
};
const STEPS: Record<string, Step[]> = {
  'no step': [],
  rename: [steps.rename({ tools: { echo: 'say', a__echo: 'say' } })],
  describe: [steps.describe({ tools: { echo: 'Says it' } })],
  prefix: [steps.prefix('x_')],
  filter: [steps.filter({ deny: ['other'] })],
  defaults: [steps.defaults({ echo: { z: 1 } })],
  fixed: [steps.fixed({ echo: { z: 1 } })],
  redact: [steps.redact({ patterns: ['email'] })],
  screen: [steps.screen({ results: 'clean' })],
  cache: [steps.cache({ ttlMs: 60_000 })],
  retry: [steps.retry()],
  timeout: [steps.timeout()],
  'a step of a program': [
    {
      name: 'own',
      async handle(exchange, next) {
        exchange.params = { ...exchange.params, added: 1 };
        const outcome = await next();
        outcome.result = { ...outcome.result, added: 1 };
        return outcome;
      },
    },
  ],
};

const heard: string[] = [];
const server = createHttpServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  heard.push(body);
  const { id, method } = JSON.parse(body) as { id?: unknown; method: string };
  if (id === undefined) return void response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'application/json' });
  return void response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${RESULTS[method] ?? '{}'}}`);
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const cases = Object.keys(STEPS).flatMap((name) => [
  { name, servers: ['a'] },
  { name, servers: ['a', 'b'] },
]);

it.each(cases)(
  'a number that JavaScript cannot represent passes $name before the servers $servers',
  async ({ name, servers }) => {
    const log = createLog({ level: 'silent' });
    const gateway = createGateway({
      servers: Object.fromEntries(servers.map((one) => [one, { url }])),
      steps: STEPS[name]!,
      log,
    });
    const at = await gateway.listen({ port: 0 });
    let session: Record<string, string> = {};
    const post = async (body: string): Promise<string> => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session };
      const answer = await fetch(at.url, { method: 'POST', headers, body });
      session = { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? session['mcp-session-id'] ?? '' };
      return answer.text();
    };
    const client = `"capabilities":{},"clientInfo":{"name":"c","version":"1"}`;
    await post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",${client}}}`);
    await post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`);
    const tools = await post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`);
    const resources = await post(`{"jsonrpc":"2.0","id":3,"method":"resources/list"}`);
    const tool = /"name":"([^"]*(?:echo|say))"/.exec(tools)?.[1];
    heard.length = 0;
    const call = `"name":"${tool}","arguments":{"n":${BIG},"f":1.0,"deep":[{"n":${BIG}}]},"_meta":{"x/n":${BIG}}`;
    const result = await post(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{${call}}}`);
    await gateway.close();
    const request = heard.find((one) => one.includes('tools/call'))!;
    const entries = { tools, resources, result, request };
    for (const [what, text] of Object.entries(entries)) {
      expect(text.match(/\b12345\d+/g), what).toEqual(expect.arrayContaining([BIG]));
      expect(
        text.match(/\b12345\d+/g)!.filter((number) => number !== BIG),
        `${what}: ${text}`,
      ).toEqual([]);
      if (what !== 'resources' || servers.length === 1) expect(text, what).toContain('"f":1.0');
    }
  },
);
