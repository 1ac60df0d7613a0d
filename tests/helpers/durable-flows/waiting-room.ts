// Lets those wait who come while the server is away, as a load balancer does. A connection to a server that dies is broken all the same.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface WaitingRoom extends AsyncDisposable {
  readonly url: string;
}

export async function openWaitingRoom(behind: string, up: () => Promise<void>): Promise<WaitingRoom> {
  const { port, pathname } = new URL(behind);
  const sockets = new Set<Socket>();
  const room = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {}).on('close', () => sockets.delete(client));
    void up().then(() => {
      const server = connect(Number(port), '127.0.0.1');
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const) {
        one.on('error', () => {}).on('close', () => other.destroy());
        one.pipe(other);
      }
    });
  });
  room.listen(0, '127.0.0.1');
  await once(room, 'listening');
  return {
    url: `http://127.0.0.1:${(room.address() as AddressInfo).port}${pathname}`,
    async [Symbol.asyncDispose]() {
      const closed = once(room, 'close');
      room.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
