// Streamable HTTP of a raw server: sessions in the handshake era, none in 2026-07-28; answers as JSON until there is something to say before.
import { createServer } from 'node:http';
import { onFreePort } from './delivery.mjs';
import { EventStream, bodyOf } from './event-streams.mjs';

const SSE = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

export async function listenHttp(server) {
  const endpoint = new HttpEndpoint(server);
  const http = createServer((request, response) => void endpoint.handle(request, response));
  http.keepAliveTimeout = 60_000;
  const port = await onFreePort(http);
  const close = () => {
    http.closeAllConnections();
    http.close();
  };
  return {
    address: { url: `http://127.0.0.1:${port}/mcp` },
    endpoint,
    dropSessions: () => endpoint.dropSessions(),
    die: () => http.closeAllConnections(),
    close,
  };
}

class HttpEndpoint {
  /** Answers what is not for the server itself: the metadata of logins. */
  extra;
  #server;
  #sessions = new Map();
  #streams = new Map();
  #lastSession = 0;
  #lastStream = 0;

  constructor(server) {
    this.#server = server;
  }

  dropSessions() {
    this.#sessions.clear();
  }

  async handle(request, response) {
    response.on('error', () => {});
    if (this.extra?.(request, response)) return;
    const text = await bodyOf(request);
    if (request.method === 'GET') return this.#listen(request, response);
    if (request.method === 'DELETE') return this.#delete(request, response);
    this.#post(text, request, response);
  }

  #delete({ headers }, response) {
    const session = headers['mcp-session-id'];
    this.#server.tape.write({ side: 'server', event: 'deleted', session });
    response.writeHead(this.#sessions.delete(session) ? 200 : 404).end();
  }

  #listen({ headers }, response) {
    const session = this.#sessions.get(headers['mcp-session-id']);
    if (this.#server.era === 'stateless') return response.writeHead(405).end();
    if (!session) return response.writeHead(404).end();
    const [, name, last] = /^(.*)\/(-?\d+)$/.exec(headers['last-event-id'] ?? '') ?? [];
    const stream = this.#streams.get(name) ?? session.stream;
    response.writeHead(200, SSE);
    response.flushHeaders();
    stream.attach(response, Number(last ?? -1));
  }

  #post(text, request, response) {
    const { headers } = request;
    const given = headers['mcp-session-id'];
    const delivery = this.#delivery(response, { given, text, headers });
    const needsSession = this.#server.era !== 'stateless' && !/"method":\s*"initialize"/.test(text);
    if (needsSession && !this.#sessions.has(given)) {
      const status = given === undefined ? 400 : 404;
      this.#server.tape.write({ side: 'server', event: 'no session', status, session: given, text });
      return response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }));
    }
    this.#server.take(text, delivery);
  }

  #delivery(response, { given, text, headers }) {
    let session = given;
    let stream;
    const conn = given ?? `post ${++this.#lastStream}`;
    const shared = () => (session === undefined ? {} : { 'mcp-session-id': session });
    const open = () => {
      if (stream) return stream;
      stream = new EventStream(`stream-${++this.#lastStream}`);
      this.#streams.set(stream.name, stream);
      response.writeHead(200, { ...SSE, ...shared() });
      stream.attach(response);
      if (this.#server.revision === '2025-11-25') stream.prime();
      return stream;
    };
    const id = /"id":\s*("(?:[^"\\]|\\.)*"|-?\d+)/.exec(text)?.[1];
    response.on('close', () => {
      if (response.writableFinished || this.#server.era !== 'stateless') return;
      this.#server.closed({ conn, id: id && JSON.parse(id) });
    });
    return {
      conn,
      session: given,
      headers,
      send: (line) => open().send(line),
      push: (line) => this.#sessions.get(given)?.stream.send(line),
      end: (line) => (stream ? stream.end(line) : this.#json(response, line, shared())),
      begin: () => {
        session = `${this.#server.name}-session-${++this.#lastSession}`;
        this.#sessions.set(session, { stream: new EventStream(`get-${session}`) });
      },
      accept: () => response.writeHead(202, shared()).end(),
      refuse: (status, more, body) => response.writeHead(status, more).end(body),
      cut: () => (stream ? stream.cut() : response.destroy()),
      die: () => response.destroy(),
      dropSession: () => this.#sessions.delete(given),
    };
  }

  #json(response, line, more) {
    const isRefused = this.#server.era === 'stateless' && /"code":-3202[0-2]\b/.test(line);
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json', ...more }).end(line);
  }
}
