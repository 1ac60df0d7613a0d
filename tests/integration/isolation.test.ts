// One user tries for what belongs to another: sessions, events, calls, questions, states, handles, links, tasks, cursors, flows. To them each looks
// like a thing that does not exist, and nothing happens to it. `PARLEY_TRIES=100000` tries more often.
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { flow, memoryStore, serveFlows } from 'mcp-parley/flow';
import type { Json } from '../helpers/http-wire.ts';
import { modern, rpc } from '../helpers/mcp-http.ts';

const TRIES = Number(process.env['PARLEY_TRIES'] ?? 5000);
const KEYS = { ann: 'parley_the-key-of-ann-0123456789', bob: 'parley_the-key-of-bob-0123456789' };
const BASE = 'http://localhost';
const META = 'io.modelcontextprotocol';
const ASKABLE = { [`${META}/clientCapabilities`]: { elicitation: { form: {} } } };
const FOLLOWS = { [`${META}/clientCapabilities`]: { extensions: { [`${META}/tasks`]: {} } } };
const YES = { sure: { action: 'accept', content: { sure: true } } };
/** Ids that nobody was ever given: an event of an earlier process, a cursor beyond the end. */
const MADE_UP = [`p${btoa('"made-up"')}.AAAAAAA_1`, btoa('{"offset":99}')];
const SECRET = 'the secret of ann';
const log = createLog({ level: 'silent' });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Who = keyof typeof KEYS;
interface Sent {
  path?: string;
  body?: Json;
  form?: Record<string, string>;
  headers?: Record<string, string>;
  method?: string;
}
interface Said {
  status: number;
  text: string;
  json: { result?: Json; error?: { code: number; message: string } };
  session: string;
}
type Send = (who: Who, sent: Sent) => Promise<Said>;

function createTools() {
  const server = createServer({ name: 'inner', version: '1', log, taskGraceMs: 1, pageSize: 1 });
  const ran: string[] = [];
  server.tool('ask', {}, async (_, call) => {
    const schema = { type: 'object', properties: { sure: { type: 'boolean' } } };
    const { action } = await call.ask.elicit({ key: 'sure', message: 'Sure?', schema });
    ran.push(action);
    return action;
  });
  server.tool('slow', { task: 'optional' }, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    ran.push('ended');
    return 'ended';
  });
  let goOn = (): void => {};
  server.tool('wait', {}, async (_, call) => {
    call.log('info', SECRET);
    await new Promise<void>((resolve) => (goOn = resolve));
    return call.signal.aborted ? 'cancelled' : 'whole';
  });
  const work = flow({ name: 'work' }, async (ask) => `told ${await ask.text('first', { message: SECRET })}`);
  serveFlows(server, [work], { store: memoryStore() });
  return { server, ran, goOn: () => goOn() };
}

/** A server that wants a login of everybody. */
async function startGuarded(): Promise<string> {
  const server = createHttpServer((_, response) => response.writeHead(401).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function serving() {
  const tools = createTools();
  const keys = Object.entries(KEYS).map(([name, key]) => ({ name, key }));
  const guarded = { server: { url: await startGuarded() }, account: 'user' as const };
  const alone = createGateway({ servers: { inner: tools.server }, log, auth: { keys }, publicUrl: BASE });
  const logins = createGateway({ servers: { guarded }, log, auth: { keys }, publicUrl: BASE });
  closing.push(
    () => alone.close(),
    () => logins.close(),
  );
  return { ...tools, send: sendTo(alone.endpoint()), login: sendTo(logins.endpoint()) };
}

function open(endpoint: { fetch: (request: Request) => Promise<Response> }, who: Who, sent: Sent): Promise<Response> {
  const { path = '/mcp', body, form, headers = {}, method = body || form ? 'POST' : 'GET' } = sent;
  return endpoint.fetch(
    new Request(BASE + path, {
      method,
      headers: {
        host: 'localhost',
        authorization: `Bearer ${KEYS[who]}`,
        accept: 'application/json, text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
        ...(form && { origin: BASE }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(form && { body: new URLSearchParams(form) }),
    }),
  );
}

function sendTo(endpoint: Parameters<typeof open>[0]): Send & { open: (who: Who, sent: Sent) => Promise<Response> } {
  const send: Send = async (who, sent) => {
    const reply = await open(endpoint, who, sent);
    const text = await reply.text();
    const json = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
    const session = reply.headers.get('mcp-session-id') ?? '';
    return { status: reply.status, text, json: JSON.parse(json) as Said['json'], session };
  };
  return Object.assign(send, { open: (who: Who, sent: Sent) => open(endpoint, who, sent) });
}

/** Reads a stream until a message that matches. */
async function reader(response: Response) {
  const chunks = response.body!.getReader();
  let text = '';
  return async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(text);
      if (found) return found;
      const { value, done } = await chunks.read();
      if (done) throw new Error(`the stream ended: ${text}`);
      text += new TextDecoder().decode(value);
    }
  };
}

/** The same id, or one a little beside it. */
function near(id: string, random: () => number): string {
  const at = Math.floor(random() * id.length);
  const other = 'abcXYZ019_-'[Math.floor(random() * 11)]!;
  const ways = [
    () => id.slice(0, at) + other + id.slice(at + 1),
    () => id.slice(0, at),
    () => id + other,
    () => id.toUpperCase(),
  ];
  return ways[Math.floor(random() * ways.length)]!() || 'x';
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
}

/** What somebody can learn from an answer, without the id that they sent themselves. */
function shapeOf({ status, text, json }: Said, id: string): string {
  const said = json.error
    ? `${json.error.code} ${json.error.message}`
    : (JSON.stringify(json.result) ?? /<h1>.*<\/h1>/.exec(text)?.[0] ?? text);
  return `${status} ${(id.length > 6 ? said.replaceAll(id, 'ID') : said).replace(/[:(].*/s, '')}`;
}

interface Thing {
  /** Ann's. */
  id: string;
  use: (who: Who, id: string) => Promise<Said>;
}

async function thingsOfAnn({ send, login }: Awaited<ReturnType<typeof serving>>) {
  const opening = { protocolVersion: '2025-11-25', capabilities: { elicitation: {}, tasks: {} } };
  const begin = async (who: Who) => {
    const body = rpc('initialize', { ...opening, clientInfo: { name: 'c', version: '1' } });
    const { session } = await send(who, { body });
    await send(who, {
      body: { jsonrpc: '2.0', method: 'notifications/initialized' },
      headers: { 'mcp-session-id': session },
    });
    return { 'mcp-session-id': session };
  };
  const ann = await begin('ann');
  const bob = await begin('bob');
  const sessionOf = (who: Who) => (who === 'ann' ? ann : bob);
  const call = (name: string, more: Json = {}, meta: Json = {}) =>
    modern('tools/call', { name, arguments: {}, ...more }, meta);

  // A call that runs, with its events, and one that asks.
  const waiting = await send.open('ann', {
    body: rpc('tools/call', { name: 'wait', arguments: {} }, 'call-of-ann'),
    headers: ann,
  });
  const waits = await reader(waiting);
  const [, event] = await waits(/^id: (\S+)\r?\n(?:.*\n)*?data: .*the secret of ann/m);
  const asking = await send.open('ann', { body: rpc('tools/call', { name: 'ask', arguments: {} }), headers: ann });
  const asks = await reader(asking);
  const question = JSON.parse((await asks(/^data: (\{.*elicitation\/create.*\})$/m))[1]!) as { id: string | number };

  const { requestState } = (await send('ann', call('ask', {}, ASKABLE))).json.result as { requestState: string };
  const told = (await send('ann', call('ask'))).json.result as { content: { text: string }[]; _meta: Json };
  const handle = String(told._meta['mcp-parley/handle']);
  const page = /\?t=([\w.-]+)/.exec(told.content[0]!.text)![1]!;
  const taskOf = async () => String((await send('ann', call('slow', {}, FOLLOWS))).json.result!['taskId']);
  const task = await taskOf();
  await taskOf();
  const listed = await send('ann', { body: rpc('tasks/list'), headers: ann });
  const cursor = String(listed.json.result?.['nextCursor']);
  const flowing = await send('ann', { body: rpc('interaction.start', { toolName: 'work' }), headers: ann });
  const flowId = String(flowing.json.result?.['sessionId']);
  const asked = (await login('ann', call('login'))).json.result as { content: { text: string }[] };
  const link = /\/login\?t=([\w-]+)/.exec(asked.content[0]!.text)![1]!;

  const inSession =
    (method: string, params: (id: string) => Json): Thing['use'] =>
    (who, id) =>
      send(who, { body: rpc(method, params(id)), headers: sessionOf(who) });
  const things: Record<string, Thing> = {
    'ping in a session': {
      id: ann['mcp-session-id'],
      use: (who, id) => send(who, { body: rpc('ping'), headers: { 'mcp-session-id': id } }),
    },
    'the stream of a session': {
      id: ann['mcp-session-id'],
      use: (who, id) =>
        send(who, { headers: { 'mcp-session-id': id, accept: 'text/event-stream', 'last-event-id': event! } }),
    },
    'the end of a session': {
      id: ann['mcp-session-id'],
      use: (who, id) => send(who, { method: 'DELETE', headers: { 'mcp-session-id': id } }),
    },
    'an event, in a session of their own': {
      id: event!,
      async use(who, id) {
        const own = await begin(who);
        const stream = send.open(who, { headers: { ...own, accept: 'text/event-stream', 'last-event-id': id } });
        const { status, body } = await stream;
        await send(who, { method: 'DELETE', headers: own });
        const text = body === null ? '' : await new Response(body).text();
        return { status, text, json: {}, session: '' };
      },
    },
    'a state': {
      id: requestState,
      use: (who, id) => send(who, call('ask', { inputResponses: YES, requestState: id }, ASKABLE)),
    },
    'a handle': {
      id: handle,
      use: (who, id) => send(who, call('parley_answer', { arguments: { handle: id, answer: { sure: true } } })),
    },
    'a page': { id: page, use: (who, id) => send(who, { path: `/ask?t=${encodeURIComponent(id)}` }) },
    'an answer on a page': {
      id: page,
      use: (who, id) => send(who, { path: `/ask?t=${encodeURIComponent(id)}`, form: { do: 'open' } }),
    },
    'the page of a login': { id: link, use: (who, id) => login(who, { path: `/login?t=${encodeURIComponent(id)}` }) },
    'the button of a login': {
      id: link,
      use: (who, id) => login(who, { path: `/login?t=${encodeURIComponent(id)}`, form: { do: 'continue' } }),
    },
    'a task': { id: task, use: (who, id) => send(who, modern('tasks/get', { taskId: id }, FOLLOWS)) },
    'the end of a task': { id: task, use: (who, id) => send(who, modern('tasks/cancel', { taskId: id }, FOLLOWS)) },
    'the result of a task': { id: task, use: inSession('tasks/result', (taskId) => ({ taskId })) },
    'a cursor': { id: cursor, use: inSession('tasks/list', (id) => ({ cursor: id })) },
    'a flow': { id: flowId, use: inSession('interaction.getState', (sessionId) => ({ sessionId })) },
    'an answer to a flow': {
      id: flowId,
      use: inSession('interaction.respond', (sessionId) => ({ sessionId, response: { value: 'x' } })),
    },
    'the end of a flow': { id: flowId, use: inSession('interaction.cancel', (sessionId) => ({ sessionId })) },
    // These are said into one's own session, so nothing comes back whatever they name.
    'the end of a call': {
      id: 'call-of-ann',
      use: (who, requestId) =>
        send(who, {
          body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } },
          headers: sessionOf(who),
        }),
    },
    'an answer to a question': {
      id: String(question.id),
      use: (who, id) =>
        send(who, {
          body: { jsonrpc: '2.0', id: typeof question.id === 'number' ? Number(id) : id, result: YES.sure },
          headers: sessionOf(who),
        }),
    },
  };
  return { things, waits, asks, ann, question };
}

/** With things of their own: questions and links last only for minutes. */
const ROUND = 5000;

test(`what belongs to one user does not exist for another, in ${TRIES} tries`, async () => {
  const counts = new Map<string, number>();
  for (let done = 0; done < TRIES; done += ROUND) await tryFor(Math.min(ROUND, TRIES - done), 42 + done, counts);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`);
}, 3_600_000);

async function tryFor(tries: number, seed: number, counts: Map<string, number>): Promise<void> {
  const setup = await serving();
  const { send, ran } = setup;
  const random = seeded(seed);
  const { things, waits, asks, ann, question } = await thingsOfAnn(setup);
  const all = Object.entries(things);
  const nothing = new Map<string, Set<string>>();
  for (const [what, { id, use }] of all) {
    expect([what, id], what).toEqual([what, expect.stringMatching(/^.+$/)]);
    expect(id).not.toBe('undefined');
    const made = ['never-was', ...MADE_UP, id.replaceAll(/[a-z]/g, 'q'), id.split('').toReversed().join('')];
    const shapes = await Promise.all(made.map(async (one) => shapeOf(await use('bob', one), one)));
    nothing.set(what, new Set(shapes));
  }
  for (let n = 0; n < tries; n++) {
    const [what, { id, use }] = all[n % all.length]!;
    const tried = random() < 0.3 ? id : near(id, random);
    const said = await use('bob', tried);
    counts.set(what, (counts.get(what) ?? 0) + 1);
    expect([...nothing.get(what)!], `${what}: ${tried}`).toContain(shapeOf(said, tried));
    expect(said.text).not.toContain(SECRET);
  }
  expect(ran).toEqual([]);
  // All of it is still there for its owner.
  const of = (what: string) => things[what]!.use('ann', things[what]!.id);
  expect((await of('ping in a session')).status).toBe(200);
  expect((await of('a task')).json.result).toMatchObject({ status: 'working' });
  expect((await of('a cursor')).json.result).toMatchObject({ tasks: [expect.any(Object)] });
  expect((await of('a flow')).json.result).toMatchObject({ state: 'waiting_user' });
  expect((await of('a page')).status).toBe(200);
  expect((await of('the page of a login')).status).toBe(200);
  setup.goOn();
  await waits(/"text":"whole"/);
  await send('ann', { body: { jsonrpc: '2.0', id: question.id, result: YES.sure }, headers: ann });
  await asks(/"text":"accept"/);
  expect((await of('a state')).json.error).toBeUndefined();
  expect((await of('a handle')).json.error).toBeUndefined();
  expect(ran.filter((one) => one === 'accept').length).toBeGreaterThan(0);
}
