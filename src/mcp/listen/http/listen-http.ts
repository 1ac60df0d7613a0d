// Opens the port that serves every HTTP transport, on loopback by default.
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { settledWithin } from '../../../kernel/base/timing.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { drainPort } from '../drain.ts';
import type { ListCalls } from '../drain.ts';
import { isLoopback } from '../guard.ts';
import { requireUrl } from '../login.ts';
import { shareConnections } from '../share-connections.ts';
import { createHttpEndpoint } from './http-endpoint.ts';
import type { EndpointOptions, EndpointSetup, ListeningAddress } from './endpoint-options.ts';

export interface HttpListenOptions extends EndpointOptions {
  /** 0 takes any free port. */
  port: number;
  /** Lets everybody in on an address that others can reach. Default: a login (`auth` or `identify`) is needed there. */
  open?: boolean | undefined;
  tls?: { key: string | Buffer; cert: string | Buffer } | undefined;
}

export interface HttpListening {
  /** Ends in /mcp, or in `path`. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** A port that can finish before it is closed. */
export interface HttpPort extends HttpListening {
  /** Finishes what is in flight; `besides` are further calls to wait for. Takes no new connections at the end. */
  drain(besides?: ListCalls): Promise<void>;
}

const MAX_HEADER_BYTES = 32 * 1024;

/** How long clients may take to read the last answers. */
const PARTING_MS = 2000;
const LOOK_EVERY_MS = 10;

export async function listenHttp(context: ServeContext, options: HttpListenOptions & EndpointSetup): Promise<HttpPort> {
  const { port, host = '127.0.0.1', tls } = options;
  if (!tls && !isLoopback(host)) context.log.warn({ host }, 'listen.without-tls');
  const isOpen = isLoopback(host) || options.open === true;
  if (!isOpen && !options.identify) throw new GatewayError('OPEN_TO_OTHERS', { host });
  if (!isLoopback(host) && !options.identify) context.log.warn({ host }, 'listen.open');
  requireUrl(options, host);
  await options.login?.ready();
  const needsIdentity = !isOpen && options.login === undefined; // a login refuses by itself
  let address: ListeningAddress | undefined;
  const endpoint = createHttpEndpoint(context, { ...options, host, needsIdentity, address: () => address });
  const server = tls
    ? (await import('node:https')).createServer({ ...tls, maxHeaderSize: MAX_HEADER_BYTES }, endpoint.handle)
    : createServer({ maxHeaderSize: MAX_HEADER_BYTES }, endpoint.handle);
  server.on('upgrade', endpoint.upgrade);
  const sockets = shareConnections(server, context.limits.maxConnections);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, host, port)));
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => context.log.error({ error }, 'listen.failed'));
  const bound = (server.address() as AddressInfo).port;
  address = { port: bound, isTls: tls !== undefined };
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}${options.path ?? '/mcp'}`,
    port: bound,
    async drain(besides = () => []) {
      server.prependListener('request', endConnection);
      const calls = () => [...endpoint.calls(), ...besides()];
      const closeIdle = (): number => {
        endpoint.sendAway();
        server.closeIdleConnections();
        // What other gateways have passed on is on no connection of this port.
        return Math.max(sockets.size, [...endpoint.calls()].length);
      };
      await drainPort({ calls, stopAccepting: () => server.close(), closeIdle }, context);
    },
    async close() {
      endpoint.close();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      // The last answers are still being written; their connections are idle when their clients have them.
      const looking = setInterval(() => server.closeIdleConnections(), LOOK_EVERY_MS);
      await settledWithin(closed, PARTING_MS);
      clearInterval(looking);
      sockets.endAll();
      await closed;
    },
  };
}

/** The client makes its next request on another connection, perhaps to another process. */
function endConnection(_: unknown, response: ServerResponse): void {
  response.setHeader('connection', 'close');
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): GatewayError {
  const reason =
    cause.code === 'EADDRINUSE'
      ? `port ${port} on ${host} is taken; choose another, or 0 for any free one`
      : cause.message;
  return new GatewayError('BAD_OPTION', { option: 'port', reason }, { cause });
}
