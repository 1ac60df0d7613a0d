// Which connection to a server a call goes by.
// 1. Calls of clients that cannot be asked share one connection and run side by side.
// 2. A client that can be asked has connections of its own, on which just its capabilities are declared.
// 3. Where one principal may be many clients (the stateless era), a connection carries one call at a time: on a channel that
//    does not say which call asked, a question could else reach the wrong one.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../protocol/exchange.ts';
import { GatewayError } from '../../shared/errors.ts';
import { AskRouting } from './ask-routing.ts';
import type { Supervised } from './supervised.ts';

export interface Connection {
  readonly supervised: Supervised;
  readonly asks: AskRouting;
}

export interface ConnectionsOptions {
  open(capabilities: ClientCapabilities, asks: AskRouting, onGone: () => void): Supervised;
  /** Every client has connections of its own, asked or not. */
  perClient: boolean;
}

/** Own connections of one client to one server. */
const MAX_OWN = 16;

export class Connections {
  readonly shared: Connection;
  readonly #options: ConnectionsOptions;
  readonly #own = new Map<string, Connection[]>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.shared = this.#create({}, () => {});
  }

  for(client: ClientView): Connection {
    const asks = asksOf(client.capabilities);
    if (Object.keys(asks).length === 0 && !this.#options.perClient) return this.shared;
    const key = `${client.principal} ${JSON.stringify(asks)}`;
    const own = this.#own.get(key) ?? [];
    this.#own.set(key, own);
    const usable = client.dialect === 'stateless' ? own.find((one) => one.asks.isFree) : own[0];
    return usable ?? this.#add(key, own, asks);
  }

  get all(): Connection[] {
    return [this.shared, ...[...this.#own.values()].flat()];
  }

  #add(key: string, own: Connection[], capabilities: ClientCapabilities): Connection {
    if (own.length >= MAX_OWN)
      throw new GatewayError('TOO_MANY', { what: 'interactive calls at once', limit: 'maxParked' });
    const connection = this.#create(capabilities, () => {
      own.splice(own.indexOf(connection), 1);
      if (own.length === 0) this.#own.delete(key);
    });
    own.push(connection);
    return connection;
  }

  #create(capabilities: ClientCapabilities, onGone: () => void): Connection {
    const asks = new AskRouting();
    return { asks, supervised: this.#options.open(capabilities, asks, onGone) };
  }
}

/** What of a client's capabilities makes it one that can be asked. */
function asksOf({ elicitation, sampling, roots }: ClientCapabilities): ClientCapabilities {
  return { ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots: {} }) };
}
