// A transport of the official SDK as a link, for servers in the same process (InMemoryTransport) and for transports that
// only the SDK has. Adds what the interface leaves open: no message after the end, one end, garbage that costs nothing.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Message } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import { networkWords } from './http-client.ts';
import { Inbox, type LinkLimits } from './inbox.ts';
import type { Link, LinkEvents, SendOptions } from './link.ts';

export function createTransportLink(transport: Transport, limits?: LinkLimits): Link {
  return new TransportLink(transport, limits);
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
    this.name = transport.constructor.name;
    this.perRequestStreams = transport.hasPerRequestStream === true;
  }

  async start(events: LinkEvents): Promise<void> {
    this.#inbox.open(events);
    Object.assign(this.#transport, {
      onmessage: (message) => void this.#inbox.value(message),
      onclose: () => this.#inbox.close('the transport was closed'),
      // Transports tell here what they could not read, and go on.
      onerror: (error) => this.#inbox.garbage(error.message),
    } satisfies Partial<Transport>);
    try {
      await this.#transport.start();
    } catch (cause) {
      const reason = networkWords(cause);
      this.#inbox.abandon(reason);
      throw new GatewayError('UPSTREAM_UNREACHABLE', { server: this.name, reason }, { cause });
    }
  }

  setHeaders(headers: Record<string, string>): void {
    const version = headers['mcp-protocol-version'];
    if (version !== undefined) this.#transport.setProtocolVersion?.(version);
  }

  async send(message: Message, { headers, signal }: SendOptions = {}): Promise<void> {
    if (!this.#inbox.isOpen) throw this.#closedError(this.#inbox.closedBy ?? 'it is not started');
    try {
      await this.#transport.send(message as JSONRPCMessage, { headers, requestSignal: signal });
    } catch (cause) {
      throw this.#closedError(networkWords(cause), cause);
    }
  }

  async close(): Promise<void> {
    const wasOpen = this.#inbox.isOpen;
    this.#inbox.close('closed');
    if (wasOpen) await this.#transport.close();
  }

  #closedError(reason: string, cause?: unknown): GatewayError {
    return new GatewayError('UPSTREAM_CLOSED', { server: this.name, reason }, { cause });
  }
}
