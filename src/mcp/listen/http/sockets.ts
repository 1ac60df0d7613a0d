// The WebSockets of an endpoint. Their code is loaded with the first upgrade: most HTTP gateways never see one, and start sooner without it.
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { refuseUpgrade } from './refusals.ts';
import type { WebSocketAcceptor } from './websocket.ts';

interface Sockets extends Pick<WebSocketAcceptor, 'calls' | 'sendAway' | 'close'> {
  upgrade(...args: Parameters<WebSocketAcceptor['upgrade']>): Promise<void>;
}

export function createSockets(context: ServeContext): Sockets {
  let loading: Promise<WebSocketAcceptor> | undefined;
  let loaded: WebSocketAcceptor | undefined;
  let isClosed = false;
  return {
    async upgrade(...args: Parameters<WebSocketAcceptor['upgrade']>): Promise<void> {
      loading ??= import('./websocket.ts').then(({ acceptWebSockets }) => acceptWebSockets(context));
      const sockets = (loaded = await loading);
      if (isClosed) refuseUpgrade(args[1], '503 Service Unavailable');
      else sockets.upgrade(...args);
    },
    calls: (): Iterable<object> => loaded?.calls() ?? [],
    sendAway: () => loaded?.sendAway(),
    close() {
      isClosed = true;
      loaded?.close();
      if (!loaded) void loading?.then((sockets) => sockets.close()).catch(() => {}); // reported to the clients that needed it
    },
  };
}
