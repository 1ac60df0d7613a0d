// One address for servers that take each other's place, as a name or an address that moves in a fail-over.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface SwitchingProxy extends AsyncDisposable {
  readonly port: number;
  /** New connections go there. `cuts`: those that are open end. */
  turnTo(port: number, how: { cuts: boolean }): void;
}

export async function startSwitchingProxy(first: number): Promise<SwitchingProxy> {
  let target = first;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.on('error', () => {}); // the close says it, too
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => open.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    turnTo(port, { cuts }) {
      target = port;
      if (cuts) cut();
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
