// What is said of a server when it becomes a target.
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../protocol/message.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Limits } from '../../shared/limits.ts';
import type { Log } from '../../shared/log.ts';
import type { Era } from '../dialect/revisions.ts';
import type { ServerView } from '../../protocol/server-view.ts';
import type { Address, Route } from './address.ts';
import type { SupervisedConnection } from './connections/supervised-connection.ts';

export interface UpstreamTargetOptions {
  /** What is answered in the place of clients that declare nothing. */
  assisted?: (() => ClientCapabilities | undefined) | undefined;
  /** The name in the configuration; for errors, logs and prefixes. */
  name: string;
  address: Address | Route;
  /** Who we are towards the server. */
  client: Implementation;
  /** Of the gateway that it belongs to (shared/via.ts). */
  id?: string | undefined;
  /**
   * `session`: every client has a connection of its own; `all`: all clients share one, and a server of the handshake era can ask
   * none of them. Default: shared where the client cannot be asked.
   */
  share?: 'auto' | 'session' | 'all' | undefined;
  /** The only revision to speak with it, or the only era. Default: found out. */
  revision?: string | undefined;
  era?: Era | undefined;
  timeoutMs?: number | undefined;
  /** A connection nobody has used for this long is closed; own connections of clients default to 5 minutes. */
  idleMs?: number | undefined;
  /** Answers `roots/list` on connections whose clients name no roots of their own. */
  roots?: (() => Promise<JsonObject>) | undefined;
  limits?: Partial<Limits> | undefined;
  log?: Log | undefined;
  clock?: Clock | undefined;
}

/** What a connection to it is, and why it is not there. */
export interface TargetStatus {
  state: SupervisedConnection['state'];
  server: ServerView | undefined;
  transport: string | undefined;
  failure: string | undefined;
  /** Why it is not up, in the name of the server. */
  problem: Error | undefined;
}
