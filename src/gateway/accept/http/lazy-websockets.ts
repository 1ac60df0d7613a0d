// Loads the WebSocket code on the first upgrade. Most HTTP gateways never see one, and start sooner without it.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ServeContext } from '../../dialect/serve/serve-context.ts';
import type { Caller } from '../identify.ts';
import { refuseUpgrade } from './answer-error.ts';
import type { WebSocketAcceptor } from './websocket.ts';

export function acceptWebSocketsLazily(
  context: ServeContext,
  onFailure: (socket: Duplex, thrown: unknown, request: IncomingMessage) => void,
): WebSocketAcceptor {
  let loading: Promise<WebSocketAcceptor> | undefined;
  let isClosed = false;

  async function hand(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller) {
    loading ??= import('./websocket.ts').then(({ acceptWebSockets }) => acceptWebSockets(context));
    try {
      const sockets = await loading;
      if (isClosed) return refuseUpgrade(socket, '503 Service Unavailable');
      sockets.upgrade(request, socket, head, caller);
    } catch (thrown) {
      onFailure(socket, thrown, request);
    }
  }

  return {
    upgrade: (request, socket, head, caller) => void hand(request, socket, head, caller),
    close() {
      isClosed = true;
      void loading?.then((sockets) => sockets.close()).catch(() => {}); // reported to the clients that needed it
    },
  };
}
