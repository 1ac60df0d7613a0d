// The internal port. It serves what the public port serves, to other nodes alone: whatever brings no grant for itself is not found.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest } from '../../../kernel/base/http.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { settledWithin } from '../../../kernel/base/timing.ts';
import { shareConnections } from '../../../mcp/listen/share-connections.ts';
import { HOP_HEADER } from './hop-grants.ts';
import type { HopGrants } from './hop-grants.ts';

export interface InternalPort {
  readonly port: number;
  close(): Promise<void>;
}

interface InternalPortOptions {
  port: number;
  host: string;
  maxConnections: number;
  grants: HopGrants;
  serve: HttpHandler;
  log: Log;
}

type Arriving = IncomingMessage & Pick<HttpRequest, 'hop' | 'clientAddress'>;

/** As the public port. */
const MAX_HEADER_BYTES = 64 * 1024;
/** How long the last answers may take to be read. */
const PARTING_MS = 500;

export async function openInternalPort(options: InternalPortOptions): Promise<InternalPort> {
  const { port, host, log, maxConnections } = options;
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) =>
    receive(options, request, response),
  );
  server.requestTimeout = 0; // the node in front limits its clients
  server.keepAliveTimeout = 0; // a node must not close a connection that another one is about to use
  const sockets = shareConnections(server, maxConnections);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotOpen(cause, port)));
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => log.error({ error }, 'cluster.failed'));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeIdleConnections();
      await settledWithin(closed, PARTING_MS);
      sockets.endAll();
      await closed;
    },
  };
}

function receive({ grants, serve }: InternalPortOptions, request: Arriving, response: ServerResponse): void {
  const hop = grants.open({ method: request.method!, path: request.url! }, request.headers[HOP_HEADER]);
  if (!hop) {
    response.writeHead(404, { 'content-type': 'text/plain', connection: 'close' }).end('Not found\n');
    return;
  }
  delete request.headers[HOP_HEADER];
  request.clientAddress = hop.address;
  request.hop = hop;
  response.setHeader(HOP_HEADER, 'taken');
  serve(request, response);
}

function cannotOpen(cause: NodeJS.ErrnoException, port: number): GatewayError {
  const reason = cause.code === 'EADDRINUSE' ? `the internal port ${port} is taken` : cause.message;
  return new GatewayError('BAD_OPTION', { option: 'cluster', reason }, { cause });
}
