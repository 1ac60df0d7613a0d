// Connections by hand, for clients that send what no library would, or do not read.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { modern } from './mcp-http.ts';

/** A connection that is ended with the test. */
export class Raw implements Disposable {
  readonly socket: Socket;
  text = '';
  isClosed = false;

  constructor({ port }: { port: number }, reads = true) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('error', () => {}).on('close', () => (this.isClosed = true));
    if (reads) this.socket.setEncoding('latin1').on('data', (chunk: string) => (this.text += chunk));
    else this.socket.pause();
  }

  write(text: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      const written = this.socket.write(text, () => resolve());
      if (written || this.isClosed) resolve();
      this.socket.once('close', () => resolve());
    });
  }

  /** A call of a stateless client. */
  async call(name: string, args: object, meta = {}): Promise<void> {
    const text = JSON.stringify(modern('tools/call', { name, arguments: args }, meta).body);
    await this.write(postHead(Buffer.byteLength(text), name) + text);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

export class RawGroup implements Disposable {
  readonly raws: Raw[];
  readonly #port: number;
  /** The ports whose connections were open. */
  readonly #seen = new Set<number>();

  constructor(gateway: { port: number }, length: number, reads = true) {
    this.#port = gateway.port;
    this.raws = Array.from({ length }, () => new Raw(gateway, reads));
  }

  /** Whether one has been cut off. Who does not read does not see it, so the other end is looked at. */
  isOneClosed(): boolean {
    const open = new Set(connectionsOf(this.#port));
    for (const port of open) this.#seen.add(port);
    return this.raws.some(
      ({ socket, isClosed }) => isClosed || (wasOpen(socket, this.#seen) && !wasOpen(socket, open)),
    );
  }

  [Symbol.dispose](): void {
    for (const raw of this.raws) raw[Symbol.dispose]();
  }
}

function wasOpen({ localPort }: Socket, ports: Set<number>): boolean {
  return localPort !== undefined && ports.has(localPort);
}

const ESTABLISHED = '01';

/** The ports of the clients whose connections with a port of this machine are open. */
function connectionsOf(port: number): number[] {
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1, -1);
  const portOf = (address: string): number => Number.parseInt(address.split(':')[1]!, 16);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return fields
    .filter(([, local, , state]) => state === ESTABLISHED && portOf(local!) === port)
    .map(([, , remote]) => portOf(remote!));
}

export function postHead(length: number, name = 'polite__echo'): string {
  const { headers } = modern('tools/call', { name });
  const more = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n${more.join('')}Content-Length: ${length}\r\n\r\n`;
}
