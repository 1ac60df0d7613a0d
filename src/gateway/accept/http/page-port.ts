// A port for pages alone, where the gateway itself has none because it serves stdio: on loopback, any free port, opened when
// the first link is wanted. It keeps no process alive.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../../shared/errors.ts';
import type { Log } from '../../../shared/log.ts';
import { answerThrown } from './answer.ts';
import { createGuard } from '../guard.ts';
import { pathOf } from './http-endpoint.ts';
import type { EndpointOptions } from './http-endpoint.ts';

export interface PagePort {
  /** Opens the port where it is not open yet, and says where it is, e.g. http://127.0.0.1:40123. */
  url(): Promise<string>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 64;

export function createPagePort({
  pages,
  log,
}: {
  pages: () => NonNullable<EndpointOptions['pages']>;
  log: Log;
}): PagePort {
  let server: Server | undefined;
  let opening: Promise<string> | undefined;
  let isClosed = false;
  return {
    url() {
      if (isClosed) return Promise.reject(new GatewayError('CANCELLED'));
      server ??= toServer(pages, log);
      return (opening ??= listen(server));
    },
    async close() {
      isClosed = true;
      await opening?.catch(() => {}); // one that never opened is as good as closed
      await new Promise((resolve) => (server ? server.close(resolve).closeAllConnections() : resolve(undefined)));
    },
  };
}

function toServer(pages: () => NonNullable<EndpointOptions['pages']>, log: Log): Server {
  const guard = createGuard(HOST);
  const server = createServer((request, response) => {
    try {
      guard.check(request);
      const all = pages();
      const path = pathOf(request);
      if (Object.hasOwn(all, path)) all[path]!(request, response);
      else response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found\n');
    } catch (thrown) {
      answerThrown({ log }, response, thrown);
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket) => socket.unref());
  return server.unref();
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, () => resolve(`http://${HOST}:${(server.address() as AddressInfo).port}`));
  });
}
