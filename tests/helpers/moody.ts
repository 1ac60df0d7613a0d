// Gateways in this process in front of real server processes, some of which can be made to fail and recover.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createGateway, createLog } from 'mcp-parley';
import type { Client, ConnectOptions, Gateway, GatewayOptions } from 'mcp-parley';
import { fixture } from './fixture-server.ts';
import { removeFolder } from './remove-folder.ts';
import { until, within } from './until.ts';
import type { CommandAddress } from '../../src/mcp/connect/address.ts';

export type Mood = 'well' | 'dies' | 'dies-after-hello' | 'hangs' | 'floods' | 'garbage';

/** A server that can be made to fail; its tools are named `<name>_echo` and so on. */
export class Moody implements Disposable {
  readonly address: CommandAddress;
  readonly #folder: string;

  constructor(name: string, mood: Mood = 'well') {
    this.#folder = mkdtempSync(join(tmpdir(), 'parley-moody-'));
    this.address = fixture('moody', [], { env: { NAME: name, MOOD: join(this.#folder, 'mood') } });
    this.becomes(mood);
  }

  becomes(mood: Mood): void {
    writeFileSync(join(this.#folder, 'mood'), mood);
  }

  [Symbol.dispose](): void {
    removeFolder(this.#folder);
  }
}

/** The same, always healthy. */
export function well(name: string): CommandAddress {
  return fixture('moody', [], { env: { NAME: name } });
}

/** As `status` has it. */
export function stateOf({ gateway }: Serving, server: string): string | undefined {
  const { target } = gateway.servers.find(({ name }) => name === server)!;
  return (target as { status?: { state: string } }).status?.state;
}

export interface Serving extends AsyncDisposable {
  gateway: Gateway;
  url: string;
  /** Another client over HTTP, by default of the handshake era; for one server only if `part` is given. */
  client(options?: ConnectOptions & { part?: string }): Promise<Client>;
}

const log = createLog({ level: 'silent' });

export async function serving(options: GatewayOptions): Promise<Serving> {
  const gateway = createGateway({ log, ask: { channels: [] }, ...options });
  const { port } = await gateway.listen({ port: 0 });
  const url = `http://127.0.0.1:${port}/mcp`;
  const clients: Client[] = [];
  return {
    gateway,
    url,
    async client({ part, ...chosen } = {}) {
      const address = part === undefined ? url : `${url}/${part}`;
      const client = await within('connect', connect(address, { log, revision: '2025-11-25', ...chosen }));
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await within('the clients to close', Promise.all(clients.map((client) => client.close())));
      await within('the gateway to close', gateway.close());
    },
  };
}

export async function toolNames(client: Client): Promise<string[]> {
  return (await within('the tools', client.listTools())).map(({ name }) => name);
}

/** Why this server's tools are marked as unavailable; undefined if they are not. */
export async function markOf(client: Client, server: string): Promise<string | undefined> {
  const tools = await within('the tools', client.listTools());
  const marks = tools
    .filter(({ name }) => name.startsWith(`${server}_`))
    .map(({ _meta }) => _meta?.['mcp-parley/unavailable'] as string | undefined);
  if (new Set(marks).size > 1) throw new Error(`some tools of ${server} are marked and some not`);
  return marks[0];
}

/** Calls until it succeeds; every failure before must be an answer, not a hang. */
export async function untilWell(client: Client, tool: string): Promise<void> {
  await until(`${tool} to work again`, () =>
    within(`an answer of ${tool}`, client.callTool(tool, { text: 'well' })).then(
      ({ isError }) => !isError,
      () => false,
    ),
  );
}
