// The server of tests/fixtures/servers/flow-desk.mjs, people who play its flows with the official client, and commands
// beside it.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ROOT } from './files.ts';
import { fixture, startHttp } from './fixture-server.ts';
import type { HttpFixture } from './fixture-server.ts';
import { Home } from './parley.ts';
import type { Ended } from './parley.ts';
import { hasPostgres, startPostgres } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';
import { startRedis } from './redis-server.ts';
import type { RedisServer } from './redis-server.ts';
import { removeFolder } from './remove-folder.ts';
import { hasTool } from './tools.ts';
import { until } from './until.ts';

export const DESK_FLOWS: string = join(ROOT, 'tests', 'fixtures', 'servers', 'desk-flows.mjs');

/** The available kinds of store by name. Undefined means a file in the desk's folder. */
export function deskPlaces(): Record<string, () => string | undefined> {
  let redis: RedisServer | undefined;
  let postgres: PostgresServer | undefined;
  const [hasRedis, isPostgresThere] = [hasTool('redis-server'), hasPostgres()];
  beforeAll(async () => {
    if (hasRedis) redis = await startRedis();
    if (isPostgresThere) postgres = await startPostgres();
    postgres?.sql('CREATE DATABASE "postgres/1"'); // a second store has `/1` behind its URL, as in Redis
  });
  afterAll(async () => {
    await redis?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });
  return {
    SQLite: () => undefined,
    ...(hasRedis && { Redis: () => redis!.url }),
    ...(isPostgresThere && { Postgres: () => postgres!.url }),
  };
}

/** A folder with a store, the effects of steps, and a home for commands. */
export class Desk implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'parley-desk-'));
  readonly home: Home = new Home();
  readonly store: string;
  readonly #env: Record<string, string>;
  readonly #open: AsyncDisposable[] = [];

  constructor(store?: string, env: Record<string, string> = {}) {
    this.store = store ?? `sqlite:${join(this.folder, 'flows.db')}`;
    this.#env = { LEDGER: join(this.folder, 'ledger'), ...env };
    writeFileSync(join(this.folder, 'ledger'), '');
  }

  /** The effects of steps, in order. */
  get ledger(): string[] {
    return readFileSync(join(this.folder, 'ledger'), 'utf8').split('\n').filter(Boolean);
  }

  async serve(version = '1'): Promise<HttpFixture> {
    const server = await startHttp(
      fixture('flow-desk', [this.store], { env: { ...this.#env, DESK_VERSION: version } }),
    );
    this.#open.push(server);
    return server;
  }

  /** Calls a flow, answers some questions and leaves the next one open. */
  async call({ url }: HttpFixture, tool: string, answers: unknown[] = [], user = 'ada'): Promise<Asker> {
    const asker = new Asker(answers);
    this.#open.unshift(asker);
    await asker.call(url, tool, user);
    return asker;
  }

  flows(args: string[], env: Record<string, string> = {}): Promise<Ended> {
    return this.home.run(['flows', ...args, '--store', this.store], '', { ...this.#env, ...env });
  }

  /** Runs a command that waits for the server. */
  asks(args: string[]): Promise<Ended> {
    return this.flows([...args, '--wait', '60']);
  }

  /** The ids of the sessions that `flows ls` lists with these options. */
  async ids(...args: string[]): Promise<string[]> {
    const { stdout } = await this.flows(['ls', '--json', ...args]);
    return (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#open) await one[Symbol.asyncDispose]();
    this.home[Symbol.dispose]();
    removeFolder(this.folder);
  }
}

export class Asker implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #answers: unknown[];
  readonly #client = new Client({ name: 'person', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  #result: Promise<{ content?: unknown }> | undefined;

  constructor(answers: unknown[]) {
    this.#answers = [...answers];
  }

  /** Resolves when the flow waits for a person. */
  async call(url: string, tool: string, user: string): Promise<void> {
    let isWaiting = false;
    this.#client.setRequestHandler('elicitation/create', async ({ params }) => {
      this.asked.push(params.message);
      if (this.#answers.length === 0) {
        isWaiting = true;
        return new Promise(() => {}); // until it is withdrawn
      }
      const { properties } = (params as { requestedSchema: { properties: object } }).requestedSchema;
      const [key] = Object.keys(properties);
      return { action: 'accept' as const, content: { [key!]: this.#answers.shift() as string } };
    });
    const requestInit = { headers: { 'x-user': user } };
    await this.#client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    this.#result = this.#client.callTool({ name: tool, arguments: {} }, { timeout: 600_000 });
    this.#result.catch(() => {}); // the server may be killed
    await Promise.race([until('a question', () => isWaiting), this.#result]);
  }

  async text(): Promise<string> {
    const { content } = await this.#result!;
    return (content as { text: string }[])[0]!.text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close().catch(() => {});
  }
}
