// A WebSocket at /ws: one message per text frame, in both directions. While a client does not read, its requests are
// not read either; if too much piles up, it is cut off. A heartbeat detects a client that vanished silently.
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Message } from '../../../kernel/message.ts';
import { LOCAL, anonymousPrincipal } from '../../../kernel/base/anonymous.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { addressOf } from '../../../kernel/base/http.ts';
import { HeldShare, UNCOUNTED_BYTES } from '../../../kernel/base/held-bytes.ts';
import { boundVia } from '../../../kernel/base/via.ts';
import { PAUSE_BYTES, answerPings, keepAlive } from '../../wire/websocket/websocket-pings.ts';
import { encode } from '../../wire/json-rpc.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { DuplexConnection } from '../duplex-connection.ts';
import { refuseUpgrade, watchValidity } from '../http/refusals.ts';
import type { Entrant, UpgradeAcceptor, UpgradeRequest } from '../http/upgrade.ts';

const POLICY_VIOLATION = 1008;
const SERVICE_RESTART = 1012;

/** How long a client may take to read its last messages. */
const PARTING_MS = 1000;

export function acceptWebSockets(context: ServeContext): UpgradeAcceptor {
  const { maxRequestBytes, maxConnections } = context.limits;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxRequestBytes,
    perMessageDeflate: false,
    autoPong: false,
    handleProtocols: (offered) => (offered.has('mcp') ? 'mcp' : false),
  });
  const open = new Map<WebSocket, DuplexConnection>();
  const part = (client: WebSocket): void => {
    if (client.readyState !== client.OPEN) return;
    client.close(SERVICE_RESTART, 'Parley stops');
    context.clock.after(PARTING_MS, () => client.terminate());
  };
  return {
    *calls() {
      for (const connection of open.values()) yield* connection.calls();
    },
    sendAway() {
      for (const [client, connection] of open) if ([...connection.calls()].length === 0) part(client);
    },
    upgrade(request, socket, head, entrant) {
      if (server.clients.size >= maxConnections) {
        return refuseUpgrade(socket, '503 Service Unavailable');
      }
      server.handleUpgrade(request, socket, head, (client) => {
        open.set(client, accept(context, client, { ...entrant, request, socket }));
        client.on('close', () => open.delete(client));
      });
    },
    close() {
      for (const [client, connection] of open) {
        connection.close(new GatewayError('GATEWAY_STOPPED'));
        part(client);
      }
      server.close();
    },
  };
}

function accept(
  context: ServeContext,
  client: WebSocket,
  { caller, validity, request, socket }: Entrant & { request: UpgradeRequest; socket: Duplex },
): DuplexConnection {
  const { headers } = request;
  const { principal } = caller ?? {};
  const principals = { handshake: principal ?? anonymousPrincipal('ws'), stateless: principal ?? LOCAL };
  const held = holdSocket(client, context, { socket, address: addressOf(request) ?? '' });
  const sent = answerPings(client, { onSent: held });
  const send = (message: Message | Message[]): void => {
    if (client.readyState !== client.OPEN) return;
    if (client.bufferedAmount > context.limits.maxBufferedBytes) {
      context.log.warn({ bytes: client.bufferedAmount }, 'client.too-slow');
      return client.terminate();
    }
    const written = encode(message);
    if (typeof written === 'string') client.send(written, sent);
    else client.send(Buffer.concat(written), { binary: false }, sent);
    held();
    if (client.bufferedAmount > PAUSE_BYTES) client.pause();
  };
  const connection = new DuplexConnection(context, {
    principals,
    from: { transport: 'websocket', headers, identity: caller, address: addressOf(request) },
    send,
    exit: () => client.close(1000),
  });
  const take = (data: Buffer, isBinary: boolean): void => {
    if (isBinary) connection.refuse(new GatewayError('PARSE_ERROR', { data: 'Send text frames, not binary ones' }));
    else connection.receive(data.toString('utf8'));
  };
  client.on('message', boundVia(take));
  client.on('error', (error) => context.log.debug({ error }, 'websocket.error'));
  const end = (): void => client.close(POLICY_VIOLATION, 'The key or token is no longer valid');
  const forget = watchValidity(context, validity, end);
  client.on('close', () => {
    forget?.();
    connection.close();
  });
  keepAlive(client, {
    clock: context.clock,
    everyMs: context.limits.keepAliveMs,
    onGone: (silentMs) => context.log.warn({ silentMs }, 'client.silent'),
  });
  return connection;
}

/**
 * Counts a frame that is arriving, and what waits for the client, against the byte budget of the process. Call what it returns when
 * something was sent.
 */
function holdSocket(
  client: WebSocket,
  { limits, log }: ServeContext,
  { socket, address }: { socket: Duplex; address: string },
): () => void {
  let arriving = 0;
  const cut = (): void => {
    log.warn({ bytes: arriving + client.bufferedAmount, limit: 'maxHeldBytes' }, 'client.too-slow');
    client.terminate();
  };
  const holding = new HeldShare({ owner: `websocket:${address}`, maxBytes: limits.maxHeldBytes, cut });
  const held = (): void => {
    const bytes = arriving + client.bufferedAmount;
    if (bytes > UNCOUNTED_BYTES || holding.bytes > 0) holding.set(bytes);
  };
  socket.on('data', (chunk: Buffer) => {
    arriving += chunk.length;
    held();
  });
  const arrived = (): void => {
    arriving = 0;
    held();
  };
  for (const event of ['message', 'ping', 'pong']) client.on(event, arrived);
  client.on('close', () => holding.release());
  return held;
}
