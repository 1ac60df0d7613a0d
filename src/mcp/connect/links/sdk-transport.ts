// Wraps a transport of the official SDK as a link, for servers in the same process (InMemoryTransport) and for transports that
// only the SDK has. Adds the guarantees of a link: one end, no message after it, and invalid messages are skipped.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isRequest } from '../../../kernel/message.ts';
import type { Message } from '../../../kernel/message.ts';
import { toPlainMessage } from '../../../kernel/raw/encoded-params.ts';
import { toSignal } from '../../../kernel/base/cancellation.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { parseJsonOrText } from '../http/http-body.ts';
import { HttpRefusal } from '../http/http-refusal.ts';
import { toLostAnswer } from './link.ts';
import type { Link, LinkEvents, SendOptions } from './link.ts';
import { describeNetworkError } from './describe-network-error.ts';
import { Inbox } from './inbox.ts';
import type { LinkLimits } from './inbox.ts';

export function createTransportLink(transport: Transport, limits?: LinkLimits): Link {
  return new TransportLink(transport, limits);
}

/** A transport may provide its name for error messages. */
interface NamedTransport extends Transport {
  readonly displayName?: string;
}

class TransportLink implements Link {
  readonly kind = 'memory';
  readonly name: string;
  readonly perRequestStreams: boolean;
  readonly #transport: Transport;
  readonly #inbox: Inbox;

  constructor(transport: Transport, limits: LinkLimits | undefined) {
    this.#transport = transport;
    this.#inbox = new Inbox(limits);
    this.name = (transport as NamedTransport).displayName ?? transport.constructor.name;
    this.perRequestStreams = transport.hasPerRequestStream === true;
  }

  async start(events: LinkEvents): Promise<void> {
    this.#inbox.open(events);
    Object.assign(this.#transport, {
      onmessage: (message) => void this.#inbox.value(message),
      onclose: () => this.#inbox.close('the transport was closed'),
      // Transports report unreadable data here and continue.
      onerror: (error) => this.#inbox.garbage(error.message),
    } satisfies Partial<Transport>);
    try {
      await this.#transport.start();
    } catch (cause) {
      const reason = describeNetworkError(cause);
      this.#inbox.abandon(reason);
      throw new GatewayError('UPSTREAM_UNREACHABLE', { server: this.name, reason }, { cause });
    }
  }

  setHeaders(headers: Record<string, string>): void {
    const version = headers['mcp-protocol-version'];
    if (version !== undefined) this.#transport.setProtocolVersion?.(version);
  }

  async send(message: Message, { headers, signal }: SendOptions = {}): Promise<void> {
    if (!this.#inbox.isOpen) throw this.#closedError(this.#inbox.closedBy ?? 'it has not started');
    try {
      await this.#transport.send(toPlainMessage(message) as JSONRPCMessage, {
        headers,
        requestSignal: signal && toSignal(signal),
        onRequestStreamEnd: () => this.#streamEnded(message),
      });
    } catch (cause) {
      throw toRefusal(cause) ?? this.#closedError(describeNetworkError(cause), cause);
    }
  }

  async close(): Promise<void> {
    const wasOpen = this.#inbox.isOpen;
    this.#inbox.close('closed');
    if (wasOpen) await this.#transport.close();
  }

  /** Also called after the answer, when no call waits any more. */
  #streamEnded(message: Message): void {
    if (isRequest(message)) this.#inbox.message(toLostAnswer(message.id, 'its stream ended'));
  }

  #closedError(reason: string, cause?: unknown): GatewayError {
    return new GatewayError('UPSTREAM_CLOSED', { server: this.name, reason }, { cause });
  }
}

/** The HTTP transports of the SDK report the status, which is evidence for the era probe. */
function toRefusal(cause: unknown): HttpRefusal | undefined {
  const { name, data } = cause as { name?: unknown; data?: { status?: unknown; text?: unknown } };
  if (name === 'UnauthorizedError') return new HttpRefusal(401, '');
  if (typeof data?.status !== 'number') return undefined;
  return new HttpRefusal(data.status, typeof data.text === 'string' ? parseJsonOrText(data.text) : '');
}
