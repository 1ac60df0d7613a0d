// A gateway and a client within one process, without a port. Servers given as commands or URLs are started and connected as usual.
import type { Client } from '../client/client.ts';
import { connect } from '../client/connect.ts';
import type { ConnectOptions } from '../client/types.ts';
import { createGateway } from '../gateway/gateway.ts';
import type { Gateway, GatewayOptions } from '../gateway/gateway.ts';
import { memoryPair } from './memory-pair.ts';
import { collectLog } from './collect-log.ts';
import type { LogLine } from './collect-log.ts';

export interface TestedGateway extends AsyncDisposable {
  readonly client: Client;
  readonly gateway: Gateway;
  /** What the gateway has logged, unless it was given a log. */
  readonly logged: readonly LogLine[];
  /** Connects another client, with its own options. */
  readonly connect: (options?: ConnectOptions) => Promise<Client>;
  /** Closes the clients, the gateway, and what the gateway started. */
  readonly close: () => Promise<void>;
}

/** `client`: who calls, as in the options of `connect`. */
export async function testGateway(options: GatewayOptions, client: ConnectOptions = {}): Promise<TestedGateway> {
  const { log, logged } = collectLog();
  const gateway = createGateway({ log, ...options });
  const clients: Client[] = [];
  const join = async (who: ConnectOptions = {}): Promise<Client> => {
    const [ours, theirs] = memoryPair();
    await gateway.connect(theirs);
    const joined = await connect(ours, { log, ...who });
    clients.push(joined);
    return joined;
  };
  const close = async (): Promise<void> => {
    await Promise.all(clients.map((one) => one.close()));
    await gateway.close();
  };
  try {
    return { client: await join(client), gateway, logged, connect: join, close, [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
