// A call of a tool that the gateway's own program makes, through the same steps as a client's. Nobody can be asked, and nobody follows
// its task, if it becomes one.
import type { Implementation } from '@modelcontextprotocol/client';
import type { JsonObject } from '../protocol/message.ts';
import { InternalExchange } from '../protocol/internal-exchange.ts';
import { NEWEST_HANDSHAKE } from './dialect/revisions.ts';

export interface GatewayCallOptions {
  signal?: AbortSignal | undefined;
  /** In whose name; default: that of everybody on this machine. */
  principal?: string | undefined;
}

export class InternalCall extends InternalExchange {
  readonly awaitsTask = true;

  constructor(
    name: string,
    args: JsonObject,
    info: Implementation,
    { principal = 'local', signal }: GatewayCallOptions,
  ) {
    const client = { dialect: 'handshake' as const, revision: NEWEST_HANDSHAKE, info, capabilities: {}, principal };
    super('tools/call', { name, arguments: args }, client, signal);
  }
}
