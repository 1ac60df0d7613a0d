// A port for web pages only, for a gateway that serves stdio and has no port itself. It binds to any free port on
// loopback when the first link is needed, and does not keep the process alive.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cancelledError } from '../../../kernel/base/cancelled-error.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { createGuard } from '../guard.ts';
import { findPage } from './page-access.ts';
import { answerThrown, runPage } from './refusals.ts';
import { pathOf } from './mount.ts';
import type { EndpointOptions } from './endpoint-options.ts';

export interface PagePort {
  /** Opens the port if needed and returns its URL, such as http://127.0.0.1:40123. */
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
      if (isClosed) return Promise.reject(cancelledError('gone'));
      server ??= toServer(pages, log);
      return (opening ??= listen(server));
    },
    async close() {
      isClosed = true;
      await opening?.catch(() => {}); // a port that never opened needs no closing
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
      const page = findPage(all, path);
      if (page) runPage({ log }, page, { request, response });
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
