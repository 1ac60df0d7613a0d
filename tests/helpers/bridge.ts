// A gateway between clients of one revision and the fixture `bridged` of another, a real process.
import { createGateway, createLog } from 'mcp-parley';
import type { Client, ConnectOptions, Gateway, GatewayOptions, ServerSettings } from 'mcp-parley';
import { connected, fixture, startHttp } from './fixture-server.ts';
import { within } from './until.ts';

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;

export const PAIRS = REVISIONS.flatMap((client) =>
  REVISIONS.flatMap((server) => (['stdio', 'http'] as const).map((upstream) => ({ client, server, upstream }))),
);

export type Pair = (typeof PAIRS)[number];

export interface Bridge extends AsyncDisposable {
  gateway: Gateway;
  url: string;
  /** A client of the pair's revision, or of another. */
  connect(options?: ConnectOptions): Promise<Client>;
}

export async function bridge(
  pair: Pair,
  settings: ServerSettings = {},
  options: Partial<GatewayOptions> = {},
): Promise<Bridge> {
  const http = pair.upstream === 'http' ? await startHttp(fixture('bridged', ['--port', '0'])) : undefined;
  const server = http?.url ?? fixture('bridged', ['--stdio']);
  const gateway = createGateway({
    servers: { bridged: { server, revision: pair.server, ...settings } },
    log: createLog({ level: 'silent' }),
    startMs: 60_000,
    ...options,
  });
  const { url } = await gateway.listen({ port: 0, host: '127.0.0.1' });
  const clients: Client[] = [];
  return {
    gateway,
    url,
    async connect(options = {}) {
      const client = await connected(url, { revision: pair.client, ...options });
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await within('clients to close', Promise.all(clients.map((client) => client.close())));
      await within('the gateway to close', gateway.close());
      await http?.stop();
    },
  };
}
