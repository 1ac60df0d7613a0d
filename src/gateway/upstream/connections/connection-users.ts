// Remembers who has used an open connection: one client, or several. A server may speak of a call long after it has answered it and after
// its client has left, so clients stay remembered until the connection is opened again.
import type { ClientView } from '../../../protocol/exchange.ts';

/** They return what the server offers to everybody, or nothing. The gateway sends them by itself too. */
const IMPERSONAL: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'capabilities',
  'ping',
]);

const SEVERAL = Symbol('several clients');

export class ConnectionUsers {
  /** Each request of the stateless era makes a client of its own, so such a client is known by its principal. */
  #user: ClientView | string | typeof SEVERAL | undefined;

  /** Called for every request that is sent. */
  note(client: ClientView, method: string): void {
    const key = client.dialect === 'stateless' ? client.principal : client;
    if (this.#user === key || this.#user === SEVERAL || IMPERSONAL.has(method)) return;
    this.#user = this.#user === undefined ? key : SEVERAL;
  }

  /** Whether nobody else has used the connection since it was opened. */
  isAlone(client: ClientView): boolean {
    return this.#user === undefined || this.#user === (client.dialect === 'stateless' ? client.principal : client);
  }

  /** The connection was opened: the server knows nothing of those who used the former one. */
  clear(): void {
    this.#user = undefined;
  }
}
