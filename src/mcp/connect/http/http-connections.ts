// HTTP connections to one origin: what is asked of them, and what they answer.
import type { ConnectionOptions } from 'node:tls';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import type { UpstreamResponse } from './http-response.ts';

export interface HttpExchangeOptions {
  path: string;
  method: 'GET' | 'POST' | 'DELETE';
  headers: Record<string, string>;
  body?: string | undefined;
  signal: Abortable;
}

export type Tls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>;

/** Keep-alive connections to one origin, as many as there are concurrent requests. */
export interface HttpConnections {
  exchange(options: HttpExchangeOptions): Promise<UpstreamResponse>;
  /** Aborts everything that is still open. */
  destroy(): Promise<void>;
}
