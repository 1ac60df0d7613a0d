// JSON-RPC by lines or frames, below any MCP client: a child's stdio, or a WebSocket.
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import WebSocket from 'ws';
import type { Answer, Json } from './http-wire.ts';
import { rpc } from './mcp-http.ts';
import { within } from './until.ts';

export class Wire {
  readonly messages: Answer[] = [];
  closed = false;
  /** Says something in this session with the key of somebody else. */
  steal?: (by: 'ann' | 'bob', body: Json) => Promise<unknown>;
  #write: (text: string) => void;
  #onChange: (() => void)[] = [];

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  write(message: unknown): void {
    this.#write(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async request(method: string, params?: Json, id?: string | number): Promise<Answer> {
    const message = rpc(method, params, id);
    this.write(message);
    return this.answerTo(message.id);
  }

  answerTo(id: unknown): Promise<Answer> {
    return this.find(`the answer to ${JSON.stringify(id)}`, (message) => message.id === id && !('method' in message));
  }

  async find(what: string, matches: (message: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const found = this.messages.find(matches);
      if (found) return found;
      if (this.closed) throw new Error(`closed before ${what}`);
      await within(what, new Promise<void>((resolve) => this.#onChange.push(resolve)));
    }
  }

  async initialize(version = '2025-11-25', capabilities: Json = {}): Promise<Answer> {
    const answer = await this.request('initialize', { protocolVersion: version, capabilities });
    this.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  call(name: string, args: Json = {}): Promise<Answer> {
    return this.request('tools/call', { name, arguments: args });
  }

  take(text: string): void {
    this.messages.push(JSON.parse(text) as Answer);
    this.#wake();
  }

  close(): void {
    this.closed = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#onChange.splice(0)) resolve();
  }
}

export function stdioWire(child: ChildProcess): Wire {
  const wire = new Wire((text) => child.stdin!.write(`${text}\n`));
  child.stdin!.on('error', () => {});
  createInterface({ input: child.stdout! }).on('line', (line) => wire.take(line));
  child.once('exit', () => wire.close());
  return wire;
}

export async function socketWire(
  port: number,
  headers: Record<string, string> = {},
): Promise<{ wire: Wire; socket: WebSocket }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, ['mcp'], { headers });
  const wire = new Wire((text) => socket.send(text));
  socket.on('message', (data: Buffer) => wire.take(data.toString('utf8')));
  socket.on('close', () => wire.close()).on('error', () => wire.close());
  await within('a WebSocket', new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject)));
  return { wire, socket };
}
