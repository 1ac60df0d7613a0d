// What a module can add to a server: methods, capabilities, tools that it answers itself, pages and metrics.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../protocol/exchange.ts';
import type { ResultObject } from '../protocol/raw/raw-object.ts';
import type { Watcher } from '../protocol/target.ts';
import type { HttpHandler } from '../shared/http.ts';
import type { Family } from '../shared/metric.ts';
import type { MaybePromise } from './types.ts';

export type RequestHandler = (exchange: Exchange) => MaybePromise<ResultObject>;

export interface Extension {
  /** Handlers by method. */
  methods: Readonly<Record<string, RequestHandler>>;
  /** Whether it asks users, also those whose clients cannot ask them. */
  asks?: boolean;
  /** Added to the capabilities of the server. */
  capabilities?(client: ClientView): ServerCapabilities;
  /** A client is connected and can receive notifications, until the returned function is called. */
  attend?(watcher: Watcher): () => void;
  /** The server is about to listen on HTTP, where `identify` tells callers apart. Called for every port and endpoint. */
  reached?(): void;
  /** Metrics for /metrics. */
  metrics?(): Promise<Family[]>;
  /** Paths that anyone with the URL can open. */
  pages?: Readonly<Record<string, HttpHandler>>;
  /** Called when the server closes. */
  close?(): Promise<void>;
}
