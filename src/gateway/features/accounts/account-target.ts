// A server that every user of the gateway uses with an account of their own. Each principal has its own target: connections, tokens,
// lists, tasks and what is known of the server are never shared. Invariant: a request reaches the target of its principal, or none.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { Change, ClientOpening, Watcher } from '../../../kernel/target.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Account } from '../../../mcp/connect/accounts/account.ts';
import type { ServerTarget, TargetStatus } from '../../servers/target-options.ts';
import type { UpstreamTarget } from '../../servers/upstream-target.ts';

interface AccountTargetOptions {
  name: string;
  create(account: Account): UpstreamTarget;
}

interface OpenAccount extends Account {
  target: UpstreamTarget;
  watchers: number;
}

/** More accounts are opened only when others are not in use. */
const MAX_ACCOUNTS = 1000;
const NOBODY: Implementation = { name: 'unknown', version: '0' };
const LISTED = { listChanged: true };
/** What a server that has not been seen yet may have. */
const ANYTHING: ServerCapabilities = { tools: LISTED, prompts: LISTED, resources: LISTED };
const IDLE: TargetStatus = {
  state: 'idle',
  connections: 0,
  server: undefined,
  transport: undefined,
  failure: undefined,
  problem: undefined,
  command: undefined,
  findings: [],
};

export class AccountTarget implements ServerTarget {
  readonly isPerUser = true;
  readonly name: string;
  readonly #options: AccountTargetOptions;
  /** The longest unused first. */
  readonly #accounts = new Map<string, OpenAccount>();

  constructor(options: AccountTargetOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get info(): Implementation {
    return this.#any?.info ?? NOBODY;
  }

  get status(): TargetStatus {
    const all = this.#targets.map(({ status }) => status);
    return all.find(({ state }) => state === 'ready') ?? all[0] ?? IDLE;
  }

  greeting(client: ClientView): JsonObject | undefined {
    return this.#of(client).greeting(client);
  }

  setLevel(level: unknown, client: ClientView): Promise<void> | undefined {
    return this.#of(client).setLevel(level, client);
  }

  capabilities(client: ClientView): ServerCapabilities {
    const target = this.#of(client);
    return target.viewFor(client) || target.status.problem ? target.capabilities(client) : ANYTHING;
  }

  /** Whose connection it would be is not known before the client is. */
  async ready(opening?: ClientOpening): Promise<void> {
    if (opening && 'principal' in opening) await this.#of(opening as ClientView).ready(opening);
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#of(client).inputSchema(tool, client);
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    if (!watcher) return () => {};
    const target = this.#of(watcher.client);
    const account = this.#accounts.get(watcher.client.principal)!;
    account.watchers++;
    const unwatch = target.watch(listener, watcher);
    return () => {
      account.watchers--;
      unwatch();
    };
  }

  async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.#of(client).subscribe(uri, client);
  }

  async followTask(taskId: string, client: ClientView): Promise<void> {
    await this.#of(client).followTask(taskId, client);
  }

  notify(notification: NotificationMessage, client: ClientView): void {
    this.#of(client).notify(notification, client);
  }

  handle(exchange: Exchange): Promise<ResultObject> {
    return this.#of(exchange.client).handle(exchange);
  }

  tellRootsChanged(): void {
    for (const target of this.#targets) target.tellRootsChanged();
  }

  look(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> | undefined {
    for (const target of this.#targets) {
      const looked = target.look(method, params, signal);
      if (looked) return looked;
    }
    return undefined;
  }

  async retire(): Promise<void> {
    await Promise.all(this.#targets.map((target) => target.retire()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#targets.map((target) => target.close()));
  }

  get #targets(): UpstreamTarget[] {
    return [...this.#accounts.values()].map(({ target }) => target);
  }

  get #any(): UpstreamTarget | undefined {
    return this.#targets.find(({ info }) => info.name !== NOBODY.name);
  }

  #of({ principal, connection }: ClientView): UpstreamTarget {
    const known = this.#accounts.get(principal);
    const account = known ?? this.#open(principal);
    if (known) {
      this.#accounts.delete(principal);
      this.#accounts.set(principal, known);
    }
    if (connection?.identity) {
      account.identity = connection.identity;
      account.authorization = [connection.headers?.authorization ?? []].flat()[0];
    }
    return account.target;
  }

  #open(principal: string): OpenAccount {
    if (this.#accounts.size >= MAX_ACCOUNTS) this.#letGo();
    const account: Account = { principal, identity: undefined, authorization: undefined };
    const opened: OpenAccount = Object.assign(account, { target: this.#options.create(account), watchers: 0 });
    this.#accounts.set(principal, opened);
    return opened;
  }

  #letGo(): void {
    const unused = [...this.#accounts.values()].find(({ watchers }) => watchers === 0);
    if (!unused) throw new GatewayError('TOO_MANY', { what: 'users at once', limit: 'maxSessions' });
    this.#accounts.delete(unused.principal);
    void unused.target.retire();
  }
}
