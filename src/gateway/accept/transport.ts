// An official SDK `Transport` as a client's connection: its in-memory pair, its stdio server transport, or one of your own.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { randomId } from '../../shared/ids.ts';
import type { Front } from '../dialect/front.ts';
import { Connection } from './connection.ts';

/** Resolves when the transport has started; the connection lives until either side closes it. */
export async function acceptTransport(front: Front, transport: Transport): Promise<{ close(): Promise<void> }> {
  const principals = { handshake: `transport:${randomId()}`, stateless: 'local' };
  const connection = new Connection(front, {
    principals,
    send: (message) => {
      for (const one of Array.isArray(message) ? message : [message]) {
        transport.send(one as JSONRPCMessage).catch((error: unknown) => front.log.debug({ error }, 'transport.send'));
      }
    },
    exit: () => void transport.close(),
  });
  transport.onmessage = (message) => connection.receiveValue(message);
  transport.onclose = () => connection.close();
  transport.onerror = (error) => front.log.debug({ error }, 'transport.error');
  await transport.start();
  return { close: () => transport.close() };
}
