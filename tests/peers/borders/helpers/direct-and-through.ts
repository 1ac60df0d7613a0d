// Connects the same client to the same server twice: directly, and through a gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createGateway, createLog } from '../../../../src/_entries/index.ts';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import { within } from '../../../helpers/until.ts';

export type Transport = 'stdio' | 'http';
export const TRANSPORTS: Transport[] = ['stdio', 'http'];

export const serverFile = (name: string): string => fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url));

/** Everything that has to be closed again, last first. */
export class Opened implements AsyncDisposable {
  readonly #closers: (() => unknown)[] = [];

  add<T>(one: T, close: (one: T) => unknown): T {
    this.#closers.push(() => close(one));
    return one;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.toReversed()) await within('the end', Promise.resolve(close()));
  }
}

/** The address of a server program, as a gateway takes it. */
export async function address(opened: Opened, file: string, transport: Transport, args: string[] = []): Promise<any> {
  if (transport === 'stdio') return { command: process.execPath, args: [serverFile(file), ...args] };
  const child = spawn(process.execPath, [serverFile(file), '--http', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  opened.add(child, () => {
    child.stdin.end();
    return child.exitCode ?? once(child, 'exit');
  });
  const [line] = (await within('the URL of the server', once(createInterface({ input: child.stdout }), 'line'))) as [
    string,
  ];
  return line;
}

export function toTransport(at: any): any {
  return typeof at === 'string' ? new StreamableHTTPClientTransport(new URL(at)) : new StdioClientTransport(at);
}

/** A gateway before these servers, and how a client reaches it over the same transport. */
export async function gatewayTo(
  opened: Opened,
  servers: any,
  transport: Transport,
  options: any = {},
): Promise<(isV2?: boolean) => any> {
  const log = createLog({ level: 'silent' });
  const gateway = createGateway({ servers, log, ask: { channels: [] }, startMs: 60_000, ...options });
  opened.add(gateway, () => gateway.close());
  if (transport === 'http') {
    const { url } = await gateway.listen({ port: 0 });
    return (isV2) => (isV2 ? new HttpV2(new URL(url)) : toTransport(url));
  }
  return () => new StreamsTransport(gateway);
}

/** A client of the SDK on a pair of streams: the gateway reads and writes lines, as on stdio. */
class StreamsTransport {
  onmessage?: (message: any) => void;
  onclose?: () => void;
  readonly #gateway: any;
  readonly #input = new PassThrough();
  readonly #output = new PassThrough();

  constructor(gateway: any) {
    this.#gateway = gateway;
  }

  async start(): Promise<void> {
    const buffer = new ReadBuffer();
    this.#output.on('data', (chunk) => {
      buffer.append(chunk);
      for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage())
        this.onmessage?.(message);
    });
    const listening = await this.#gateway.listen({ stdio: true, input: this.#input, output: this.#output });
    void listening.closed.then(() => this.onclose?.());
  }

  async send(message: any): Promise<void> {
    this.#input.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#input.end();
    this.onclose?.();
  }
}

/** What the client has heard, as it came. */
export interface Heard<C = Client> {
  client: C;
  messages: any[];
  /** The result of `initialize`. */
  greeting: any;
  find(what: string, matches: (message: any) => boolean): Promise<any>;
}

export async function connectV1(
  opened: Opened,
  transport: any,
  capabilities: any = {},
  prepare?: (client: Client) => void,
): Promise<Heard> {
  const client = new Client({ name: 'tester', version: '1' }, { capabilities });
  prepare?.(client);
  const tapped = tap(transport);
  await within('the client to connect', client.connect(transport));
  opened.add(client, () => client.close());
  return hear(client, transport, tapped);
}

/** What comes before anybody listens. */
function tap(transport: any): { greeting?: any } {
  const tapped: { greeting?: any } = {};
  let listener: any;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => listener,
    set: (next: any) => {
      listener =
        next &&
        ((message: any, extra: any) => {
          if (message.result?.serverInfo) tapped.greeting ??= structuredClone(message.result);
          next(message, extra);
        });
    },
  });
  return tapped;
}

/** A client of SDK v2 that speaks 2026-07-28 and nothing else. */
export async function connect2026(
  opened: Opened,
  transport: any,
  capabilities: any = {},
  prepare?: (client: any) => void,
): Promise<Heard<any>> {
  const client = new ClientV2(
    { name: 'tester', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.fallbackNotificationHandler = async () => {};
  prepare?.(client);
  await within('the client to connect', client.connect(transport));
  opened.add(client, () => client.close());
  return hear(client, transport);
}

function hear<C>(client: C, transport: any, { greeting }: { greeting?: any } = {}): Heard<C> {
  const messages: any[] = [];
  const wake: (() => void)[] = [];
  const { onmessage } = transport;
  transport.onmessage = (message: any, extra: any) => {
    messages.push(structuredClone(message));
    for (const resolve of wake.splice(0)) resolve();
    onmessage?.call(transport, message, extra);
  };
  return {
    client,
    messages,
    greeting,
    async find(what, matches) {
      for (;;) {
        const found = messages.find(matches);
        if (found) return found;
        await within(what, new Promise<void>((resolve) => wake.push(resolve)));
      }
    },
  };
}
