// Clients that send valid messages of every method and era, changed at random, over each transport. Now and then they ask for something
// valid and wait for its answer: a gateway that hangs or has lost track is found out there.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import WebSocket from 'ws';
import { damaged, mutated } from '../fixtures/servers/parts/mutate.mjs';
import type { Chance } from '../fixtures/servers/parts/mutate.mjs';
import type { Json } from './http-wire.ts';
import { modern, openSession } from './mcp-http.ts';
import { until, within } from './until.ts';

export interface Place {
  url: string;
  port: number;
  linesPort: number;
}

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01'];
const NAME = 'polite__echo';
const CALL = { name: NAME, arguments: { text: 'x' } };
const REF = { type: 'ref/prompt', name: 'polite__brief' };
const opening = (protocolVersion: string) => ({
  protocolVersion,
  capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } },
  clientInfo: { name: 'mutating', version: '1' },
});

const METHODS: [method: string, params?: Json][] = [
  ['ping'],
  ['tools/list'],
  ['tools/call', CALL],
  ['tools/call', { ...CALL, _meta: { progressToken: 1 } }],
  ['tools/call', { ...CALL, task: { ttl: 1000 } }],
  ['tools/call', { ...CALL, inputResponses: { a: { action: 'accept' } }, requestState: 'x' }],
  ['tools/call', { name: 'parley_answer', arguments: { handle: 'ask_x', answer: {} } }],
  ['prompts/list'],
  ['prompts/get', { name: 'polite__brief', arguments: { who: 'x' } }],
  ['resources/list', { cursor: 'x' }],
  ['resources/templates/list'],
  ['resources/read', { uri: 'file:///a' }],
  ['resources/subscribe', { uri: 'file:///a' }],
  ['resources/unsubscribe', { uri: 'file:///a' }],
  ['completion/complete', { ref: REF, argument: { name: 'who', value: 'x' } }],
  ['logging/setLevel', { level: 'debug' }],
  ['tasks/list'],
  ['tasks/get', { taskId: 'x' }],
  ['tasks/result', { taskId: 'x' }],
  ['tasks/cancel', { taskId: 'x' }],
  ['server/discover'],
  ['subscriptions/listen', { notifications: { toolsListChanged: true } }],
  ['interaction.start', { toolName: NAME, initialParams: {} }],
  ['interaction.respond', { sessionId: 'x', promptId: 'y', response: { value: true } }],
  ['interaction.cancel', { sessionId: 'x' }],
  ['initialize', opening('2025-11-25')],
];
const NOTIFICATIONS: [method: string, params?: Json][] = [
  ['notifications/initialized'],
  ['notifications/cancelled', { requestId: 1, reason: 'x' }],
  ['notifications/progress', { progressToken: 1, progress: 1 }],
  ['notifications/roots/list_changed'],
  ['notifications/unknown', { a: [] }],
];

let lastId = 0;

/** A valid message, and the headers that go with it over HTTP. */
function valid(random: Chance): { body: Json; headers: Record<string, string> } {
  if (random.chance(0.1)) {
    const [method, params] = random.one(NOTIFICATIONS);
    return { body: { jsonrpc: '2.0', method, ...(params && { params }) }, headers: {} };
  }
  if (random.chance(0.05)) {
    const answer = random.chance(0.5)
      ? { result: { action: 'accept', content: {} } }
      : { error: { code: 1, message: 'x' } };
    return { body: { jsonrpc: '2.0', id: random.below(100), ...answer }, headers: {} };
  }
  const [method, params = {}] = random.one(METHODS);
  if (random.chance(0.5)) return modern(method, params);
  return { body: { jsonrpc: '2.0', id: ++lastId, method, params }, headers: {} };
}

function next(random: Chance): { bytes: Buffer; headers: Record<string, string> } {
  const { body, headers } = valid(random);
  const value: unknown = random.chance(0.7) ? mutated<unknown>(body, random) : body;
  const text = JSON.stringify(value ?? null);
  return { bytes: random.chance(0.15) ? damaged(text, random) : Buffer.from(text), headers };
}

/** Sends so many; resolves when the gateway has shown that it still answers. */
export type Sender = (place: Place, count: number, random: Chance) => Promise<void>;

const BETWEEN = 500;

export const SENDERS: Record<string, Sender> = {
  async HTTP(place, count, random) {
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    let session = (await openSession(place.url)).headers['mcp-session-id']!;
    for (let sent = 0; sent < count; sent++) {
      if (sent % BETWEEN === 0) session = (await openSession(place.url)).headers['mcp-session-id']!;
      const { bytes, headers } = next(random);
      const more: Record<string, string> = { ...headers };
      if (random.chance(0.5)) more['mcp-session-id'] = random.chance(0.9) ? session : 'x';
      if (random.chance(0.3)) more['mcp-protocol-version'] = random.one(REVISIONS);
      const method = random.one(['POST', 'POST', 'POST', 'POST', 'POST', 'POST', 'POST', 'POST', 'GET', 'DELETE']);
      await within(
        `an answer to message ${sent}: ${bytes.toString().slice(0, 500)}`,
        posted(place.url, { agent, method, headers: more, bytes }),
      );
    }
    agent.destroy();
  },

  async 'HTTP+SSE'(place, count, random) {
    for (let sent = 0; sent < count; sent += BETWEEN) await withSse(place, Math.min(BETWEEN, count - sent), random);
  },

  async WebSocket(place, count, random) {
    for (let sent = 0; sent < count; sent += BETWEEN) await withSocket(place, Math.min(BETWEEN, count - sent), random);
  },

  async stdio(place, count, random) {
    for (let sent = 0; sent < count; sent += BETWEEN) await withLines(place, Math.min(BETWEEN, count - sent), random);
  },
};

interface Posting {
  agent: Agent;
  method?: string;
  headers: Record<string, string>;
  bytes: Buffer;
}

/** Resolves with the head of the answer; a stream is left at once. */
function posted(url: string, { agent, method = 'POST', headers, bytes }: Posting): Promise<void> {
  return new Promise((resolve) => {
    const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
    const sent = request(url, { method, agent, headers: all }, (response) => {
      response.on('error', () => {}).on('close', () => resolve());
      if (String(response.headers['content-type']).startsWith('text/event-stream')) response.destroy();
      else response.resume();
    });
    sent.on('error', () => resolve()).end(method === 'POST' ? bytes : undefined);
  });
}

const probe = (id: string) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
const hello = (revision: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params: opening(revision) });

async function withSocket({ port }: Place, count: number, random: Chance): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, ['mcp']);
  let isAnswered = false;
  let isClosed = false;
  socket.on('message', (data: Buffer) => (isAnswered ||= data.includes('"probe"')));
  socket.on('close', () => (isClosed = true)).on('error', () => {});
  await within('a WebSocket', new Promise((resolve) => socket.once('open', resolve)));
  socket.send(hello(random.one(REVISIONS)));
  for (let sent = 0; sent < count && socket.readyState === socket.OPEN; sent++) {
    socket.send(next(random).bytes, { binary: random.chance(0.02) });
    if (random.chance(0.01)) socket.ping('x');
    if (sent % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (!isClosed) socket.send(probe('probe'));
  await until('the answer to a ping over WebSocket', () => isAnswered || isClosed);
  socket.terminate();
}

async function withLines({ linesPort }: Place, count: number, random: Chance): Promise<void> {
  const socket = connect(linesPort, '127.0.0.1');
  let isAnswered = false;
  let isClosed = false;
  socket.on('close', () => (isClosed = true)).on('error', () => {});
  socket.setEncoding('utf8').on('data', (text: string) => (isAnswered ||= text.includes('"probe"')));
  socket.write(`${hello(random.one(REVISIONS))}\n`);
  for (let sent = 0; sent < count && !socket.destroyed; sent++) {
    socket.write(Buffer.concat([next(random).bytes, Buffer.from(random.chance(0.05) ? '\r\n\n' : '\n')]));
    if (sent % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  socket.write(`\n${probe('probe')}\n`);
  await until('the answer to a ping on stdio', () => isAnswered || isClosed);
  socket.destroy();
}

async function withSse({ url }: Place, count: number, random: Chance): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  let text = '';
  const stream = request(url.replace('/mcp', '/sse'), { headers: { accept: 'text/event-stream' } }, (response) => {
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('error', () => {});
  });
  stream.on('error', () => {}).end();
  const path = await until('the endpoint', () => /^data: ?(\/\S+)$/m.exec(text)?.[1]);
  const endpoint = new URL(path, url).href;
  const post = (bytes: Buffer) => within('an answer to a POST', posted(endpoint, { agent, headers: {}, bytes }));
  await post(Buffer.from(hello(random.one(REVISIONS.slice(0, 4)))));
  for (let sent = 0; sent < count; sent++) await post(next(random).bytes);
  await post(Buffer.from(probe('probe')));
  await until('the answer to a ping over HTTP+SSE', () => text.includes('"probe"'));
  stream.destroy();
  agent.destroy();
}
