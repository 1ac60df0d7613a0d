// Plain MCP over HTTP, in both eras.
import { BOTH, openStream, send } from './http-wire.ts';
import type { Answer, Json, Reply, Stream } from './http-wire.ts';

export const MODERN = '2026-07-28';
const META = 'io.modelcontextprotocol';

let lastId = 0;

export function rpc(method: string, params?: Json, id: string | number = ++lastId): Json {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

/** A complete stateless request. */
export function modern(
  method: string,
  params: Json = {},
  meta: Json = {},
): { body: Json; headers: Record<string, string> } {
  const _meta = { [`${META}/protocolVersion`]: MODERN, [`${META}/clientCapabilities`]: {}, ...meta };
  const name = params.name ?? params.uri ?? params.taskId;
  const headers = {
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  };
  return { body: rpc(method, { ...params, _meta }), headers };
}

export const elicits: Json = { [`${META}/clientCapabilities`]: { elicitation: {} } };
export const follows: Json = { [`${META}/clientCapabilities`]: { extensions: { [`${META}/tasks`]: {} } } };

export async function callModern(
  url: string,
  name: string,
  args: Json = {},
  headers: Record<string, string> = {},
): Promise<Reply> {
  const request = modern('tools/call', { name, arguments: args });
  return send(url, { ...request, headers: { ...request.headers, ...headers } });
}

/** Calls a tool on a new connection; proves that the server still works. */
export async function ask(url: string, name: string, args: Json = {}): Promise<string> {
  const { json, status } = await callModern(url, name, args);
  const text = json.result?.content?.[0]?.text;
  if (status !== 200 || text === undefined) throw new Error(`${name}: ${status} ${JSON.stringify(json)}`);
  return text;
}

export class HttpSession {
  readonly url: string;
  readonly headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string>) {
    this.url = url;
    this.headers = headers;
  }

  request(method: string, params?: Json, headers: Record<string, string> = {}): Promise<Reply> {
    return this.post(rpc(method, params), headers);
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return send(this.url, { body, headers: { ...this.headers, ...headers } });
  }

  call(name: string, args: Json = {}, meta?: Json): Promise<Reply> {
    return this.request('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
  }

  stream(lastEventId?: string): Promise<Stream> {
    return openStream(this.url, { headers: { ...this.headers, ...(lastEventId && { 'last-event-id': lastEventId }) } });
  }

  /** A call whose answer is read as it arrives. */
  callStream(name: string, args: Json, id?: string): Promise<Stream> {
    const body = rpc('tools/call', { name, arguments: args, _meta: { progressToken: 'p' } }, id);
    return openStream(this.url, { method: 'POST', headers: { ...this.headers, accept: BOTH }, body });
  }

  poll(): Promise<Reply> {
    return send(this.url, { method: 'GET', headers: { ...this.headers, accept: 'application/json' } });
  }

  delete(): Promise<Reply> {
    return send(this.url, { method: 'DELETE', headers: this.headers });
  }
}

export async function openSession(
  url: string,
  {
    version = '2025-11-25',
    capabilities = {},
    headers = {},
  }: { version?: string; capabilities?: Json; headers?: Record<string, string> } = {},
): Promise<HttpSession> {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } };
  const reply = await send(url, { body: rpc('initialize', params), headers });
  if (reply.status !== 200) throw new Error(`initialize: ${reply.status} ${reply.text}`);
  const session = new HttpSession(url, { ...headers, 'mcp-session-id': reply.headers['mcp-session-id'] as string });
  await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return session;
}

/** Whether an error leaks internals; none may. */
export function leaks(answer: Answer | string): boolean {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return /\bat .*\.(ts|js|mjs):\d+|node_modules|\/work\/|\/home\/|hunter2|\/etc\//.test(text);
}
