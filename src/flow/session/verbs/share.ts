// All stateless callers without a login are one principal. A session belongs to that principal, so that its holder can come back from another
// network; but it is counted and listed by the network address, so that nobody takes the room of the others.
import { callerOfClient } from '../../../protocol/exchange.ts';
import type { ClientView } from '../../../protocol/exchange.ts';
import { LOCAL } from '../../../shared/anonymous.ts';

/** Undefined for a caller whom its principal or its connection tells apart. */
export function shareOf(client: Pick<ClientView, 'principal' | 'connection'>): string | undefined {
  if (client.principal !== LOCAL || client.connection?.address === undefined) return undefined;
  return `${LOCAL}\0${callerOfClient(client)}`;
}
