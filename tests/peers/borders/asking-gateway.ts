// A gateway before servers/asks.mjs, and clients of the official SDK v1 that cannot be asked: they share its connections.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions, ServerSettings } from '../../../src/_entries/index.ts';
import { fileURLToPath } from 'node:url';
import { startHttp } from '../../helpers/fixture-server.ts';
import { within } from '../../helpers/until.ts';
import { Director } from './director.ts';

export interface Told {
  text: string;
  isError: boolean;
  handle: string;
}

export interface Person extends AsyncDisposable {
  client: Client;
  call(tool: string, options?: { args?: object; signal?: AbortSignal; timeout?: number }): Promise<Told>;
  answer(handle: string, answer: object): Promise<Told>;
}

export interface AskingGateway extends AsyncDisposable {
  director: Director;
  url: string;
  connect(who: string): Promise<Person>;
}

const PROGRAM = fileURLToPath(new URL('servers/asks.mjs', import.meta.url));

export async function startAsking(
  transport: 'stdio' | 'http',
  {
    sdk = 'v1',
    settings = {},
    ...options
  }: { sdk?: 'v1' | 'v2'; settings?: ServerSettings } & Partial<GatewayOptions> = {},
): Promise<AskingGateway> {
  const director = await Director.start();
  const command = { command: process.execPath, args: [PROGRAM, sdk, transport, director.url] };
  const http = transport === 'http' ? await startHttp(command) : undefined;
  const gateway = createGateway({
    servers: { asks: Object.assign({ server: http?.url ?? command, era: 'handshake' as const }, settings) },
    ask: { channels: ['relay'] },
    log: createLog({ level: 'silent' }),
    startMs: 60_000,
    ...options,
  });
  const { url } = await gateway.listen({ port: 0, host: '127.0.0.1' });
  return {
    director,
    url,
    connect: (who) => connect(url, who),
    async [Symbol.asyncDispose]() {
      await director[Symbol.asyncDispose]();
      await within('the gateway to close', gateway.close());
      await http?.stop();
    },
  };
}

async function connect(url: string, who: string): Promise<Person> {
  const client = new Client({ name: who, version: '1' });
  const requestInit = { headers: { 'x-user': who } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const call: Person['call'] = async (tool, { args = { who }, ...options } = {}) => {
    const result = (await client.callTool({ name: tool, arguments: args as Record<string, unknown> }, undefined, {
      timeout: 120_000,
      ...options,
    })) as { content: { text?: string }[]; isError?: boolean; _meta?: Record<string, unknown> };
    const text = result.content.map((block) => block.text ?? '').join('\n');
    return { text, isError: result.isError === true, handle: String(result._meta?.['mcp-parley/handle'] ?? '') };
  };
  return {
    client,
    call,
    answer: (handle, answer) => call('parley_answer', { args: { handle, answer } }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
