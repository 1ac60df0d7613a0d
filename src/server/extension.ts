// What a module beside the server's own areas adds to it: methods, capabilities, tools whose calls it answers itself, and word of
// the clients that are there.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../protocol/exchange.ts';
import type { ResultObject } from '../protocol/raw/raw-object.ts';
import type { Watcher } from '../protocol/target.ts';
import type { HttpHandler } from '../shared/http.ts';
import type { Family } from '../shared/metric.ts';
import type { MaybePromise } from './types.ts';

export type RequestHandler = (exchange: Exchange) => MaybePromise<ResultObject>;

export interface Extension {
  /** Requests by their method. */
  methods: Readonly<Record<string, RequestHandler>>;
  /** It asks people, those whose clients cannot be asked, too. */
  asks?: boolean;
  /** Added to what the server declares. */
  capabilities?(client: ClientView): ServerCapabilities;
  /** A client is there and can be told things, until the returned function is called. */
  attend?(watcher: Watcher): () => void;
  /** The server is about to be reached by HTTP, where `identify` tells callers apart. Called for every port and endpoint. */
  reached?(): void;
  /** What it counts, for /metrics. */
  metrics?(): Promise<Family[]>;
  /** Paths that are served to whoever knows the URL. */
  pages?: Readonly<Record<string, HttpHandler>>;
  /** The server is closed. */
  close?(): Promise<void>;
}
