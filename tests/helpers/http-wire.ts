// Plain HTTP below any MCP client: the test controls every header and byte.
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { within } from './until.ts';

export type Json = Record<string, unknown>;

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body as JSON; the messages of a stream as an array. */
  json: Answer;
  messages: Answer[];
}

export interface Answer {
  jsonrpc?: string;
  id?: unknown;
  method?: string;
  params?: Json;
  result?: Json & { content?: { text: string }[] };
  error?: { code: number; message: string; data?: unknown };
}

export const BOTH = 'application/json, text/event-stream';

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  /** Text as it is, anything else as JSON. */
  body?: unknown;
  ca?: string;
  /** The address that it comes from, such as 127.0.0.2. */
  from?: string;
}

export async function send(url: string, { method = 'POST', headers = {}, body, ca, from }: Sent = {}): Promise<Reply> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const defaults = { accept: BOTH, ...(text !== undefined && { 'content-type': 'application/json' }) };
  const response = await within(
    `an answer to ${method} ${url}`,
    begin(url, { method, headers: { ...defaults, ...headers }, body: text, ...(ca && { ca }), ...(from && { from }) }),
  );
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return toReply(response, Buffer.concat(chunks).toString('utf8'));
}

function begin(url: string, { method, headers, body, ca, from }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const start = url.startsWith('https:') ? httpsRequest : httpRequest;
    const options = { method, headers, agent: false, ...(ca && { ca }), ...(from && { localAddress: from }) };
    const request = start(url, options, resolve);
    request.on('error', reject);
    request.end(body);
  });
}

function toReply(response: IncomingMessage, text: string): Reply {
  const isStream = response.headers['content-type'] === 'text/event-stream';
  const messages = isStream ? events(text).flatMap(({ data }) => (data ? [JSON.parse(data) as Answer] : [])) : [];
  const json = isJson(response) && text ? (JSON.parse(text) as Answer) : (messages.at(-1) ?? {});
  return {
    status: response.statusCode!,
    headers: response.headers,
    text,
    json,
    messages: isStream ? messages : [json],
  };
}

function isJson(response: IncomingMessage): boolean {
  return response.headers['content-type']?.startsWith('application/json') ?? false;
}

export interface Event {
  id?: string;
  event?: string;
  retry?: string;
  data?: string;
}

function events(text: string): Event[] {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  return blocks.map(
    (block) => Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2))) as Event,
  );
}

/** An event stream that is read as it arrives. */
export class Stream {
  readonly response: IncomingMessage;
  readonly events: Event[] = [];
  ended = false;
  #rest = '';
  #onChange: (() => void)[] = [];

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#take(chunk));
    for (const end of ['end', 'error', 'close']) response.on(end, () => this.#end());
  }

  get messages(): Answer[] {
    return this.events.flatMap(({ data }) => (data?.startsWith('{') ? [JSON.parse(data) as Answer] : []));
  }

  /** Resolves when `look` returns true; checks after each event. */
  async until(what: string, look: (stream: Stream) => boolean): Promise<this> {
    while (!look(this)) {
      if (this.ended) throw new Error(`the stream ended before ${what}`);
      await within(what, new Promise<void>((resolve) => this.#onChange.push(resolve)));
    }
    return this;
  }

  async untilEnd(): Promise<this> {
    while (!this.ended)
      await within('the end of the stream', new Promise<void>((resolve) => this.#onChange.push(resolve)));
    return this;
  }

  /** Resolves with the next event, or the end. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  close(): void {
    this.response.destroy();
  }

  #take(chunk: string): void {
    const blocks = (this.#rest + chunk).split('\n\n');
    this.#rest = blocks.pop()!;
    this.events.push(...events(blocks.join('\n\n')));
    this.#wake();
  }

  #end(): void {
    this.ended = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#onChange.splice(0)) resolve();
  }
}

export async function openStream(
  url: string,
  { method = 'GET', headers = {}, body, from }: Sent = {},
): Promise<Stream> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const defaults = {
    accept: method === 'GET' ? 'text/event-stream' : BOTH,
    ...(text && { 'content-type': 'application/json' }),
  };
  return new Stream(
    await within(
      `a stream from ${url}`,
      begin(url, { method, headers: { ...defaults, ...headers }, body: text, ...(from && { from }) }),
    ),
  );
}

/** A plain TCP connection; `text` returns what has arrived. */
export async function openSocket(port: number): Promise<Socket & { text(): string }> {
  let text = '';
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {}).on('data', (chunk) => (text += chunk.toString('latin1')));
  await within('a TCP connection', new Promise((resolve) => socket.once('connect', resolve)));
  return Object.assign(socket, { text: () => text });
}
