// A tool call made by the program that runs the gateway. It passes the same steps as a client's call, but there is no person to
// ask, and a task is awaited to its end.
import type { Implementation } from '@modelcontextprotocol/client';
import type { JsonObject } from '../kernel/message.ts';
import { InternalExchange } from '../kernel/internal-exchange.ts';
import { CALL_TOOL } from '../kernel/methods.ts';
import { sessionClient } from '../mcp/eras/own-clients.ts';

export interface GatewayCallOptions {
  signal?: AbortSignal | undefined;
  /** The principal of the call; default: `local`, that of all clients on this machine. */
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
    super(CALL_TOOL, { name, arguments: args }, sessionClient(info, principal), signal);
  }
}
