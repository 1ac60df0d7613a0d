// A server and a client within one process. The server may be of the official SDK, or anything that takes a `Transport`.
import type { Transport } from '@modelcontextprotocol/client';
import type { Client } from '../client/client.ts';
import { connect } from '../client/connect.ts';
import type { ConnectOptions } from '../client/types.ts';
import { memoryPair } from './memory-pair.ts';

/** A server of `createServer` or of the official SDK. */
interface Connectable {
  connect(transport: Transport): Promise<unknown>;
}

export interface TestedServer extends AsyncDisposable {
  readonly client: Client;
  /** Ends the connection. The server stays yours and can be connected again. */
  readonly close: () => Promise<void>;
}

/** `client`: who calls, as in the options of `connect`. */
export async function testServer(server: Connectable, client: ConnectOptions = {}): Promise<TestedServer> {
  const [ours, theirs] = memoryPair();
  await server.connect(theirs);
  const joined = await connect(ours, client);
  const close = (): Promise<void> => joined.close();
  return { client: joined, close, [Symbol.asyncDispose]: close };
}
