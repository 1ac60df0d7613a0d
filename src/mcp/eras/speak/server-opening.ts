// How a connection to a server of an era with sessions is opened.
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client';
import type { Dialect } from '../../../kernel/era/era.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { ServerEvents } from '../../../kernel/server-view.ts';
import type { OnlyRevision } from '../revisions.ts';
import type { ServerDialect, Wire } from './server-dialect.ts';

/** Without a revision, offers the newest and accepts any of the era. */
export interface ServerIntroduction extends OnlyRevision {
  info: Implementation;
  capabilities: ClientCapabilities;
  /** Further fields of the client's opening that the server gets, `_meta` among them. */
  greeting?: JsonObject | undefined;
  timeoutMs?: number | undefined;
  /** The gateways that the request has passed, this one last. */
  via?: readonly string[] | undefined;
}

export interface InitializedServer {
  dialect: ServerDialect;
  /** They belong on every later request. */
  headers: Record<string, string>;
  /** Tells the server that we are ready. */
  ready: NotificationMessage;
}

/** An era that opens with `initialize`, towards servers. */
export interface EraTowardsServers {
  readonly dialect: Dialect;
  /** Resolves with what the server answers. */
  initialize(wire: Wire, intro: ServerIntroduction): Promise<unknown>;
  /** Whether only a server of this era answers so. */
  isItsAnswer(result: unknown): boolean;
  /** Throws NO_COMMON_VERSION if the answer is not that of a server of this era. */
  open(wire: Wire, result: unknown, intro: ServerIntroduction, events: ServerEvents): InitializedServer;
}
