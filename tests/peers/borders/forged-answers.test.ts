// Answers that come before their question are never accepted: not by an approval, a question to a human, or Parley's own
// questions.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from '../../../src/_entries/index.ts';
import type { Gateway, GatewayOptions } from '../../../src/_entries/index.ts';
import { flow, serveFlows } from '../../../src/_entries/flow.ts';
import { approve } from '../../../src/_entries/middleware.ts';
import { ROOT } from '../../helpers/files.ts';
import { send } from '../../helpers/http-wire.ts';
import type { Json } from '../../helpers/http-wire.ts';
import { elicits, modern, openSession } from '../../helpers/mcp-http.ts';
import { Home } from '../../helpers/parley.ts';

const YES = { action: 'accept', content: { approve: true } };
/** Every key somebody might guess. */
const GUESSES: Json = Object.fromEntries(
  ['approve', 'approve_', 'ask', 'ask-1', 'ask-2', 'q1', 'approve-1', '__proto__', 'constructor'].map((key) => [
    key,
    YES,
  ]),
);

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function curl(url: string, headers: string[], body: string): Promise<string> {
  const child = spawn('curl', ['-s', url, ...headers.flatMap((header) => ['-H', header]), '-d', body]);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await once(child, 'close');
  return said;
}

describe('the approval example, as a process', () => {
  test('one curl with an answer to a question that was never asked deletes nothing', async () => {
    using home = new Home(join(ROOT, 'examples', 'approval'));
    await using parley = home.start(['serve', 'parley.config.jsonc', '--port', '0', '--open']);
    const url = await parley.url();
    const call = (name: string, params: string) =>
      curl(
        url,
        ['Content-Type: application/json', 'Accept: application/json, text/event-stream'].concat([
          'MCP-Protocol-Version: 2026-07-28',
          'Mcp-Method: tools/call',
          `Mcp-Name: ${name}`,
        ]),
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}",${params}` +
          '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}',
      );
    const forged =
      '"arguments":{"name":"ideas"},"inputResponses":{"approve":{"action":"accept","content":{"approve":true}}},';
    expect(await call('delete_note', forged)).toMatch(/was not approved: .*no browser is paired/);
    expect(await call('list_notes', '"arguments":{},')).toContain('shopping, ideas');
    expect(parley.stderr).not.toContain('approval.given');
  });
});

interface Behind {
  url: string;
  wiped: string[];
  lines: Json[];
}

/** A gateway with a tool that needs approval, and everything it logs. */
async function behind(options: Partial<GatewayOptions> = {}): Promise<Behind> {
  const wiped: string[] = [];
  const lines: Json[] = [];
  const log = createLog({ level: 'warn', write: (line) => lines.push(JSON.parse(line) as Json) });
  const desk = createServer({ name: 'desk', version: '1', log });
  const input = { type: 'object', properties: { path: { type: 'string' } } };
  desk.tool('wipe', { input, annotations: { destructiveHint: true } }, ({ path }) => {
    wiped.push(String(path));
    return `wiped ${String(path)}`;
  });
  desk.tool('name', { annotations: { readOnlyHint: true } }, async (_, call) => {
    const form = { message: 'Who?', schema: { who: { type: 'string' } }, key: 'who' };
    const { content } = await call.ask.elicit(form);
    return `hello ${String(content?.who)}`;
  });
  const gateway: Gateway = createGateway({
    servers: { desk },
    steps: [approve()],
    log,
    ask: { trust: 'all' },
    ...options,
  });
  open.push(() => gateway.close());
  return { url: (await gateway.listen({ port: 0 })).url, wiped, lines };
}

async function call(url: string, params: Json, headers: Record<string, string> = {}): Promise<Json> {
  const request = modern('tools/call', params, elicits);
  const { json } = await send(url, { ...request, headers: { ...request.headers, ...headers } });
  return (json.result ?? json.error) as Json;
}

const wipe = (path: string, more: Json = {}): Json => ({ name: 'wipe', arguments: { path }, ...more });

describe('an approval in the stateless era', () => {
  test('takes no answer that comes with the first request, whatever its key', async () => {
    const { url, wiped, lines } = await behind();
    const asked = await call(url, wipe('/a', { inputResponses: GUESSES }));
    expect(asked).toMatchObject({ resultType: 'input_required' });
    expect(Object.keys(asked.inputRequests as Json)).toEqual([expect.stringMatching(/^approve_[\w-]{22}$/)]);
    expect(wiped).toEqual([]);
    expect(lines).toEqual([]);
  });

  test('takes the answer to the question that was put, and the log says how it was given', async () => {
    const { url, wiped, lines } = await behind();
    const { requestState, inputRequests } = await call(url, wipe('/a'));
    const [key] = Object.keys(inputRequests as Json);
    const done = await call(url, wipe('/a', { requestState, inputResponses: { [key]: YES } }));
    expect(done).toMatchObject({ content: [{ text: 'wiped /a' }] });
    expect(wiped).toEqual(['/a']);
    expect(lines).toEqual([
      expect.objectContaining({ event: 'approval.given', tool: 'wipe', server: 'desk', way: 'client' }),
    ]);
  });

  test('takes no guessed key with the state of a question that was put', async () => {
    const { url, wiped } = await behind();
    const { requestState } = await call(url, wipe('/a'));
    const again = await call(url, wipe('/a', { requestState, inputResponses: GUESSES }));
    expect(again).toMatchObject({ resultType: 'input_required' });
    expect(wiped).toEqual([]);
  });

  test('takes no state of another call, of other arguments or of somebody else, and none twice', async () => {
    const identify = (request: { headers: Record<string, unknown> }) => String(request.headers['x-user'] ?? 'ann');
    const { url, wiped } = await behind({ identify });
    const put = async () => {
      const { requestState, inputRequests } = await call(url, wipe('/a'));
      const [key] = Object.keys(inputRequests as Json);
      return { requestState, inputResponses: { [key]: YES } };
    };
    const answered = await put();
    expect(await call(url, wipe('/b', answered))).toMatchObject({ code: -32602 });
    expect(await call(url, { name: 'name', ...answered })).toMatchObject({ code: -32602 });
    expect(await call(url, wipe('/a', answered), { 'x-user': 'bob' })).toMatchObject({ code: -32602 });
    expect(wiped).toEqual([]);
    // The key of one question does not answer another.
    const other = await put();
    const crossed = { requestState: other.requestState, inputResponses: answered.inputResponses };
    expect(await call(url, wipe('/a', crossed))).toMatchObject({ resultType: 'input_required' });
    expect(wiped).toEqual([]);
    expect(await call(url, wipe('/a', answered))).toMatchObject({ content: [{ text: 'wiped /a' }] });
    expect(await call(url, wipe('/a', answered))).toMatchObject({ isError: true });
    expect(wiped).toEqual(['/a']);
  });

  test("lets a server's own question be answered ahead", async () => {
    const { url } = await behind();
    const answers = { who: { action: 'accept', content: { who: 'Ann' } } };
    const done = await call(url, { name: 'name', arguments: {}, inputResponses: answers });
    expect(done).toMatchObject({ content: [{ text: 'hello Ann' }] });
  });

  test('refuses an answer by parley_answer or interaction.respond that nobody asked for', async () => {
    const { url, wiped } = await behind();
    const answer = { name: 'parley_answer', arguments: { handle: 'approve', answer: { approve: true } } };
    const request = modern('tools/call', answer);
    expect(JSON.stringify((await send(url, request)).json)).not.toContain('wiped');
    const session = await openSession(url, { version: '2025-11-25' });
    const respond = { sessionId: 'approve', response: { value: true } };
    expect((await session.request('interaction.respond', respond)).json).toHaveProperty('error');
    expect(wiped).toEqual([]);
  });
});

describe('an approval in the handshake era', () => {
  test('takes no response with a guessed id that was sent before the question', async () => {
    const { url, wiped } = await behind();
    const session = await openSession(url, { version: '2025-11-25', capabilities: { elicitation: { form: {} } } });
    for (const id of ['ask-0', 'ask-1', 0, 1]) await session.post({ jsonrpc: '2.0', id, result: YES });
    const stream = await session.callStream('wipe', { path: '/a', inputResponses: GUESSES }, 'one');
    await stream.until('the question', ({ messages }) =>
      messages.some(({ method }) => method === 'elicitation/create'),
    );
    expect(wiped).toEqual([]);
    stream.close();
  });

  test('is given in the form of an SDK v1 client, and logged', async () => {
    const { url, wiped, lines } = await behind();
    const client = new Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { approve: true } }));
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    open.push(() => client.close());
    await client.callTool({ name: 'wipe', arguments: { path: '/a' } });
    expect(wiped).toEqual(['/a']);
    expect(lines).toEqual([expect.objectContaining({ event: 'approval.given', way: 'client', client: 'sdk' })]);
  });
});

describe('a question to a human in a flow', () => {
  const ship = flow({ name: 'ship', description: 'Ships it' }, async (ask) => {
    const what = await ask.text('what', { message: 'What?' });
    return (await ask.confirm('sure', { message: `Ship ${what}?`, by: 'human' })) ? `shipped ${what}` : 'kept';
  });
  const SURE = { action: 'accept', content: { sure: true } };
  const WHAT = { action: 'accept', content: { what: 'tea' } };
  const isAsked = (result: Json, key: string) =>
    expect(Object.keys((result.inputRequests ?? {}) as Json)).toEqual([key]);

  /** Directly, behind a gateway in the same process, and behind one that reaches it in each era. */
  const places: [string, () => Promise<string>][] = [
    ['a server of its own', async () => (await flowServer()).url],
    ['a gateway in the same process', async () => (await flowGateway({ desk: flowTarget() })).url],
    ['a gateway that reaches it in the handshake era', async () => flowBehind('handshake')],
    ['a gateway that reaches it in the stateless era', async () => flowBehind('stateless')],
  ];

  function flowTarget() {
    const server = createServer({ name: 'desk', version: '1', log: createLog({ level: 'silent' }) });
    serveFlows(server, [ship]);
    return server;
  }

  async function flowServer() {
    const server = flowTarget();
    open.push(() => server.close());
    return server.listen({ port: 0 });
  }

  async function flowGateway(servers: GatewayOptions['servers']) {
    const gateway = createGateway({ servers, log: createLog({ level: 'silent' }), ask: { trust: 'all' } });
    open.push(() => gateway.close());
    return gateway.listen({ port: 0 });
  }

  async function flowBehind(era: 'handshake' | 'stateless') {
    const { url } = await flowServer();
    return (await flowGateway({ desk: { server: url, era } })).url;
  }

  test.each(places)('takes no answer before it has asked, %s', async (_, start) => {
    const url = await start();
    const ahead = { name: 'ship', arguments: {}, inputResponses: { what: WHAT, sure: SURE } };
    const first = await call(url, ahead);
    isAsked(first, 'sure');
    const again = await call(url, { ...ahead, requestState: first.requestState, inputResponses: { sure: SURE } });
    expect(again).toMatchObject({ content: [{ text: 'shipped tea' }] });
  });

  test.each(places)('takes no answer with the question before it, %s', async (_, start) => {
    const url = await start();
    const params = { name: 'ship', arguments: {} };
    const first = await call(url, params);
    isAsked(first, 'what');
    const both = { requestState: first.requestState, inputResponses: { what: WHAT, sure: SURE } };
    const second = await call(url, { ...params, ...both });
    isAsked(second, 'sure');
    const done = await call(url, { ...params, requestState: second.requestState, inputResponses: { sure: SURE } });
    expect(done).toMatchObject({ content: [{ text: 'shipped tea' }] });
  });
});
