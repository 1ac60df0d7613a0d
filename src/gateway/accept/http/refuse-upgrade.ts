// Refuses an upgrade request.
import type { Duplex } from 'node:stream';

/** Destroys the socket, because a client that never closes its end must not keep it open. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
