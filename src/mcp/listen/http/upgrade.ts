// A transport to which a client upgrades its HTTP connection.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpRequest } from '../../../kernel/base/http.ts';
import type { UpgradedTransport, Validity } from '../../../kernel/exchange.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import type { Caller } from '../identify.ts';

export interface Upgrade {
  readonly transport: UpgradedTransport;
  /** As people name it. */
  readonly label: string;
  /** Beside /mcp. */
  readonly path: string;
  /** Its own URL for one that begins with http: or https:. */
  urlOf(url: string): string;
  /** Called with the first upgrade: most gateways never see one, and start sooner without its code. */
  open(context: ServeContext): Promise<UpgradeAcceptor>;
}

/** With the address of its client, behind a trusted proxy. */
export type UpgradeRequest = IncomingMessage & Pick<HttpRequest, 'clientAddress'>;

/** Who was let in. */
export interface Entrant {
  caller: Caller;
  /** How long the connection may stay open; undefined: as long as both sides want. */
  validity: Validity | undefined;
}

export interface UpgradeAcceptor {
  upgrade(request: UpgradeRequest, socket: Duplex, head: Buffer, who: Entrant): void;
  /** What is in flight on all connections. */
  calls(): Iterable<object>;
  /** Closes the connections without a call. */
  sendAway(): void;
  close(): void;
}
