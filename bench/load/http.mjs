// A client on raw sockets: one request at a time on each, written as prepared text, answers only scanned for their end.
// An HTTP library would cost the load more than the barest server costs, and become what is measured.
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { checkAnswer, DISCOVER, ERAS, INITIALIZE, INITIALIZED, nextId } from './messages.mjs';

/** Between two tries to reach a server that is starting. */
const AGAIN_MS = 3;
const BOTH = 'application/json, text/event-stream';

/** `patient`: the server is only just starting, and is asked again while this says so. */
export async function httpClient({ url, era, patient = () => false }) {
  const greeting = await greet(url, era, patient);
  const greetedAt = performance.now();
  const sessionHeaders = era === 'handshake' ? await openSession(url, greeting) : {};
  const headers = { ...sessionHeaders, 'mcp-protocol-version': ERAS[era].revision };
  const sockets = [];

  return {
    greetedAt,
    /** One call on one lane; each lane is a connection of its own. */
    send(lane, call, done) {
      if (!sockets[lane]?.isOpen()) sockets[lane] = openSocket(url);
      const id = nextId();
      sockets[lane].exchange(textOf(id, call, url, headers), { call, id, done });
    },
    async check(call) {
      const id = nextId();
      const response = await post(url, { ...headers, ...callHeaders(call) }, call.head + id + call.tail);
      checkAnswer(await messageIn(response), call, id);
    },
    /** Servers drop connections that idle for some seconds; before a cell all are opened again, so none is dropped in it. */
    renew() {
      for (const socket of sockets.splice(0)) socket.destroy();
    },
  };
}

/** The first word of a client, answered. */
async function greet(url, era, patient) {
  const word = JSON.stringify(era === 'handshake' ? INITIALIZE : DISCOVER);
  const headers =
    era === 'handshake' ? {} : { 'mcp-protocol-version': ERAS[era].revision, 'mcp-method': DISCOVER.method };
  for (;;) {
    const response = await post(url, headers, word).catch(unless(patient));
    const text = await response?.text();
    if (response?.ok) return response;
    if (!patient()) throw new Error(`the first word was answered with ${response.status}: ${text.slice(0, 200)}`);
    await setTimeout(AGAIN_MS);
  }
}

const unless = (patient) => (error) => {
  if (!patient()) throw error;
};

async function openSession(url, greeting) {
  const id = greeting.headers.get('mcp-session-id');
  // A server without sessions is within its rights.
  const headers = { 'mcp-protocol-version': ERAS.handshake.revision, ...(id && { 'mcp-session-id': id }) };
  const { status } = await post(url, headers, JSON.stringify(INITIALIZED));
  if (status !== 202) throw new Error(`notifications/initialized was answered with ${status}`);
  return headers;
}

function post(url, headers, body) {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: BOTH, ...headers },
    body,
  });
}

async function messageIn(response) {
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  // The answer is the last event; a priming event before it has no data.
  const data = isStream ? text.slice(text.lastIndexOf('\ndata: ') + 7) : text;
  return JSON.parse(data);
}

function callHeaders({ era, name }) {
  return era === 'stateless' ? { 'mcp-method': 'tools/call', 'mcp-name': name } : {};
}

function textOf(id, call, url, headers) {
  const body = call.head + id + call.tail;
  call.http ??= headText(call, url, headers, body.length);
  return call.http + body;
}

function headText(call, url, headers, length) {
  const { host, pathname } = new URL(url);
  const all = { host, 'content-type': 'application/json', accept: BOTH, ...headers, ...callHeaders(call) };
  const lines = Object.entries({ ...all, 'content-length': length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function openSocket(url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let open;

  socket.on('data', (chunk) => {
    if (!open) return;
    open.read(chunk);
    if (open.ended()) finish(open.fault());
  });
  socket.on('error', finish);
  socket.on('close', () => finish(new Error('the server closed the connection')));

  function finish(error) {
    const done = open?.done;
    open = undefined;
    done?.(error);
  }

  return {
    exchange(text, request) {
      open = answerReader(request);
      socket.write(text, 'latin1');
    },
    isOpen: () => !socket.destroyed && socket.readyState !== 'closed',
    destroy() {
      socket.removeAllListeners('close').destroy();
    },
  };
}

const LOOKED_AT = 4096;

/** The start of an answer is looked at, for the rest bytes are counted: the whole was checked before the measuring. */
function answerReader({ call, id, done }) {
  let start = '';
  let end = '';
  let size = 0;
  let expected;

  function readHead() {
    const head = start.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(start)?.[1];
    // Without a length it is chunked, and the end is a pattern.
    expected = length === undefined ? Infinity : head + 4 + Number(length);
  }

  return {
    done,
    read(chunk) {
      size += chunk.length;
      end = (end + chunk.latin1Slice(Math.max(0, chunk.length - 5))).slice(-5);
      if (start.length < LOOKED_AT) start += chunk.latin1Slice(0, Math.min(chunk.length, LOOKED_AT));
      if (expected === undefined) readHead();
    },
    ended() {
      return size >= expected || (expected === Infinity && end === '0\r\n\r\n');
    },
    fault() {
      // In a large answer the id may stand at the far end.
      const isMine = size > LOOKED_AT || start.includes(`"id":${id}`);
      const isRight = start.startsWith('HTTP/1.1 200') && start.includes(call.opens) && size > call.text.length;
      if (isMine && isRight) return undefined;
      return new Error(`wrong answer: ${start.slice(0, 500)}`);
    },
  };
}
