// The connections of a port, by address, so that one cannot take those of all.
import type { Server, Socket } from 'node:net';
import { FairShares } from '../../kernel/containers/fair-shares.ts';
import { networkOf } from '../../kernel/net/network.ts';

/** Node's own list has neither upgraded sockets nor those still in a TLS handshake. */
export function shareConnections(server: Server, max: number): FairShares {
  const sockets = new FairShares(max);
  server.on('connection', (socket: Socket) => {
    const free = sockets.take(networkOf(socket.remoteAddress ?? ''), () => {
      free?.();
      socket.destroy();
    });
    if (free) socket.on('close', free);
    else socket.destroy();
  });
  return sockets;
}
