// What a session of a caller without a login is counted and listed by, so that nobody takes the room of the others.
// All stateless ones are one principal: a session belongs to it, so that its holder can come back from another network, but it counts for the
// network address. A caller with a connection or a handshake of its own is a principal of its own; it also counts for its address, because
// one address can open many.
import { callerOfClient } from '../../../protocol/exchange.ts';
import type { ClientView } from '../../../protocol/exchange.ts';
import { isAnonymous, LOCAL } from '../../../shared/anonymous.ts';
import { toOwner } from '../session-context.ts';

/** Undefined for a caller with a login, or without an address. */
export function shareOf(client: Pick<ClientView, 'principal' | 'connection'>): string | undefined {
  const { principal, connection } = client;
  if ((principal !== LOCAL && !isAnonymous(principal)) || connection?.address === undefined) return undefined;
  return `${LOCAL}\0${callerOfClient(client)}`;
}

/** As a header has it: the network, and the principal behind a slash where it is one of many of that network (`networkOfShare`). */
export function toStoredShare(principal: string, share: string, salt: string | undefined): string {
  const network = toOwner(share, salt);
  return isAnonymous(principal) ? `${network}/${toOwner(principal, salt)}` : network;
}
