// An MCP server over HTTP without any library, of either era. It keeps every message as it came, also those it refuses, so that a test can compare
// what was sent again with what was sent first.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json } from './http-wire.ts';
import { MODERN } from './mcp-http.ts';
import type { Refusal } from './oidc-server.ts';
import { until } from './until.ts';

export interface ReceivedMessage {
  body: string;
  message: Json;
  headers: IncomingHttpHeaders;
  /** With what it was answered; 0 if not yet. */
  status: number;
}

type Era = 'handshake' | 'stateless';
/** Undefined: as any server does. */
type Answerer = (
  received: ReceivedMessage,
  response: ServerResponse,
  earlier: number,
) => Json | undefined | Promise<Json | undefined>;

export class RecordingServer implements AsyncDisposable {
  readonly era: Era;
  readonly received: ReceivedMessage[] = [];
  /** Answers in place of the server: the result, or nothing if it has written the response itself. */
  answer: Answerer = () => undefined;
  sessions = 0;
  /** The sessions that clients have ended. */
  readonly deleted: string[] = [];
  #server: Server | undefined;

  constructor(era: Era) {
    this.era = era;
  }

  async listen(): Promise<string> {
    const server = createServer((request, response) => void this.handle(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  }

  of(method: string): ReceivedMessage[] {
    return this.received.filter(({ message }) => message.method === method);
  }

  /** Waits until so many messages of a method have come. */
  async got(method: string, count: number): Promise<ReceivedMessage[]> {
    return until(`${count} × ${method}`, () => (this.of(method).length >= count ? this.of(method) : undefined));
  }

  readonly handle = async (request: IncomingMessage, response: ServerResponse, refusal?: Refusal): Promise<void> => {
    if (request.method === 'DELETE') this.deleted.push(String(request.headers['mcp-session-id']));
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    const body = await text(request);
    const received = { body, message: JSON.parse(body) as Json, headers: request.headers, status: 0 };
    this.received.push(received);
    response.on('finish', () => (received.status = response.statusCode));
    if (refusal) return void response.writeHead(refusal.status, { 'www-authenticate': refusal.challenge }).end();
    if (received.message.id === undefined) return void response.writeHead(202).end();
    const earlier = this.of(String(received.message.method)).length - 1;
    const given = await this.answer(received, response, earlier);
    if (response.headersSent || response.writableEnded) return;
    const result = given ?? this.#usual(received.message, response);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: received.message.id, result }));
  };

  #usual({ method, params }: Json, response: ServerResponse): Json {
    if (method === 'initialize') {
      response.setHeader('mcp-session-id', `session-${++this.sessions}`);
      const { protocolVersion } = (params ?? {}) as Json;
      return { protocolVersion, capabilities: CAPABILITIES, serverInfo: { name: 'recording', version: '1' } };
    }
    if (method === 'server/discover') return { supportedVersions: [MODERN], capabilities: CAPABILITIES };
    if (method === 'tools/list') return { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] };
    if (method === 'prompts/get') return { messages: [{ role: 'user', content: { type: 'text', text: 'done' } }] };
    if (method === 'resources/read')
      return { contents: [{ uri: (params as Json | undefined)?.uri ?? 'none:', text: 'done' }] };
    return method === 'tools/call' ? { content: [{ type: 'text', text: 'done' }] } : {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server?.close().closeAllConnections();
  }
}

const CAPABILITIES: Json = { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {} };

/** The message with its id taken out, wherever the id stands as the progress token as well. */
export function withoutId({ body, message }: ReceivedMessage): string {
  const id = JSON.stringify(message.id);
  return body.replaceAll(`"id":${id}`, '"id":0').replaceAll(`"progressToken":${id}`, '"progressToken":0');
}
