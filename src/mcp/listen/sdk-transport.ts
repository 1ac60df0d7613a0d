// Accepts a client over an official SDK `Transport`: the in-memory pair, the stdio server transport, or a custom one.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isObject } from '../../kernel/message.ts';
import type { Message } from '../../kernel/message.ts';
import { RawObject } from '../../kernel/raw/raw-object.ts';
import { LOCAL, anonymousPrincipal } from '../../kernel/base/anonymous.ts';
import type { ServeContext } from '../eras/serve/serve-context.ts';
import { DuplexConnection } from './duplex-connection.ts';
import { toWritable } from './unusual-messages.ts';

/** Resolves when the transport has started; the connection lives until either side closes it. */
export async function acceptSdkTransport(
  context: ServeContext,
  transport: Transport,
  onClose: () => void = () => {},
): Promise<{ close(): Promise<void> }> {
  const principals = { handshake: anonymousPrincipal('transport'), stateless: LOCAL };
  const close = async (): Promise<void> => {
    connection.close();
    await transport.close();
  };
  const failed = (error: unknown): void => context.log.debug({ error }, 'transport.error');
  const deliver = async (message: Message): Promise<void> => {
    try {
      await transport.send(toValue(message));
    } catch (cause) {
      const writable = toWritable(message);
      if (writable === message) throw cause; // the transport failed, not the encoding
      context.log.error({ cause }, 'answer.unwritable');
      await transport.send(toValue(writable));
    }
  };
  const connection = new DuplexConnection(context, {
    principals,
    from: { transport: 'sdk' },
    send: (message) => {
      for (const one of Array.isArray(message) ? message : [message]) deliver(one).catch(failed);
    },
    exit: () => void close().catch(failed),
  });
  transport.onmessage = (message) => connection.receiveValue(copied(message));
  transport.onclose = () => {
    connection.close();
    onClose();
  };
  transport.onerror = failed;
  await transport.start();
  return { close };
}

/** The other side reads the result as an object. */
function toValue(message: Message): JSONRPCMessage {
  if (!('result' in message) || !(message.result instanceof RawObject)) return message as JSONRPCMessage;
  return { ...message, result: message.result.parse() };
}

/** Copied, because within one process the message is the sender's own object and `_meta` is removed from ours. */
function copied(message: unknown): unknown {
  if (!isObject(message) || !isObject(message.params)) return message;
  return { ...message, params: { ...message.params } };
}
