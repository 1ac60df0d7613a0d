// Remembers whether one client or several have used an open connection. A server may mention a call long after its answer, when
// the client has left, so users are remembered until the connection is reopened.
import type { ClientView } from '../../../protocol/exchange.ts';

/** These return what the server offers to everyone, or nothing. The gateway also sends them itself. */
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
  /** A stateless client is known by its principal, because each of its requests creates a new client object. */
  #user: ClientView | string | typeof SEVERAL | undefined;

  note(client: ClientView, method: string): void {
    const key = client.dialect === 'stateless' ? client.principal : client;
    if (this.#user === key || this.#user === SEVERAL || IMPERSONAL.has(method)) return;
    this.#user = this.#user === undefined ? key : SEVERAL;
  }

  /** Whether no other client has used the connection since it was opened. */
  isAlone(client: ClientView): boolean {
    return this.#user === undefined || this.#user === (client.dialect === 'stateless' ? client.principal : client);
  }

  /** Called when the connection is reopened: the server no longer knows its former users. */
  clear(): void {
    this.#user = undefined;
  }
}
