// The options of a server behind the gateway, and its status.
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client';
import type { EventHub } from '../../kernel/events/event-hub.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { Dialect } from '../../kernel/era/era.ts';
import type { ServerView } from '../../kernel/server-view.ts';
import type { Target } from '../../kernel/target.ts';
import type { Address, CommandAddress } from '../../mcp/connect/address.ts';
import type { Route } from '../../mcp/connect/route.ts';
import type { ServerLogin } from '../../mcp/connect/accounts/server-login.ts';
import type { SupervisedConnection } from './connections/supervised-connection.ts';

export interface UpstreamTargetOptions {
  /** Capabilities that the gateway provides for clients that declare none. */
  assisted?: (() => ClientCapabilities | undefined) | undefined;
  /** The configured name, for errors, logs and prefixes. */
  name: string;
  address: Address | Route;
  /** How the gateway introduces itself to the server. */
  client: Implementation;
  /** The id of the gateway (kernel/base/via.ts). */
  id?: string | undefined;
  /**
   * `session`: every client has its own connection; `all`: all clients share one, and a handshake server can ask none of them.
   * Default: shared by clients that cannot be asked, and on stdio by all while the server asks nothing.
   */
  share?: 'auto' | 'session' | 'all' | undefined;
  /** Whether clients that can be asked share until the server asks. Default: on stdio, where a connection is a process. */
  sharesUntilAsked?: boolean | undefined;
  /** The only revision or era to speak. Default: negotiated. */
  revision?: string | undefined;
  era?: Dialect | undefined;
  timeoutMs?: number | undefined;
  /** A connection that is unused for this long is closed; default for clients' own connections: 5 minutes. */
  idleMs?: number | undefined;
  /** The gateway's login at the server, the same for all clients. */
  login?: ServerLogin | undefined;
  /** Called each time before its command is started. Throws if it must not be. */
  checkStart?: ((address: CommandAddress) => void) | undefined;
  /** Lets the user of a call log in; resolves when they have. Without it, the error says how to. */
  logIn?: ((exchange: Exchange) => Promise<void>) | undefined;
  /** Answers `roots/list` for clients without roots of their own. */
  roots?: (() => Promise<JsonObject>) | undefined;
  /** Checks each page of a list before clients see it, and what they use. */
  definitions?: ListChecks | undefined;
  limits?: Partial<Limits> | undefined;
  log?: Log | undefined;
  clock?: Clock | undefined;
  events?: EventHub | undefined;
}

/** A server behind the gateway: connected on demand, and away at times. */
export interface ServerTarget extends Target {
  readonly status: TargetStatus;
  tellRootsChanged(): void;
  /** Sends a request on a connection that is already open; undefined if none is. */
  look(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> | undefined;
  /** Closes the connections once their calls have ended. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

export function isServerTarget(target: Target): target is ServerTarget {
  return 'retire' in target;
}

/** Judges what a server lists, and what clients use of it. */
export interface ListChecks {
  /** The page of a list as clients may see it. */
  check(exchange: Exchange, page: JsonObject, server: ServerView): Promise<JsonObject>;
  /** Whether something may be held back. */
  readonly isJudging: boolean;
  /** Rejects if what the request uses is held back; undefined if it may go on at once. */
  admit(exchange: Exchange, list: FetchList): Promise<void> | undefined;
  /** What is held back, by name, and why. */
  heldBack(area: 'tools' | 'prompts'): ReadonlyMap<string, Error> | undefined;
  /** A list of the server has changed. */
  outdate(kind: ListedKind): void;
  /** Calls back when clients may see more; returns a function that ends this. */
  onAccepted(listener: (kind: ListedKind) => void): () => void;
  /** What was found, a line for each. */
  readonly reports: readonly string[];
}

type ListedKind = 'tools' | 'prompts' | 'resources';
type FetchList = (method: string, client: ClientView) => Promise<unknown>;

/** The state of a server's connection. */
export interface TargetStatus {
  state: SupervisedConnection['state'];
  /** Open connections; for a command, these are its processes. */
  connections: number;
  server: ServerView | undefined;
  transport: string | undefined;
  failure: string | undefined;
  /** Why it is not available, under the server's name. */
  problem: Error | undefined;
  /** Undefined if it is not a command. */
  command: CommandAddress | undefined;
  /** What is wrong with its definitions. */
  findings: readonly string[];
}
