// Whose a session is, as the store keeps it.
import { hash } from 'node:crypto';
import { callerOfClient } from '../../protocol/exchange.ts';
import type { ClientView } from '../../protocol/exchange.ts';
import { isAnonymous, LOCAL } from '../../shared/anonymous.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';
import type { Header } from '../journal.ts';

const MAX_OWNERS = 10_000;
const owners = new BoundedMap<string, string>(MAX_OWNERS);

/**
 * A hash of the principal, so that stores never hold its name. The salt of the store stands in front of it, so that a table of guesses serves for
 * one store only. Sessions in tokens, and in stores without a salt, have none.
 */
export function toOwner(principal: string, salt = ''): string {
  const toHash = () => {
    const text = `mcp-parley/flow-principal\0${salt === '' ? '' : `${salt}\0`}${principal}`;
    return `${salt === '' ? '' : `${salt}.`}${hash('sha256', text, 'base64url').slice(0, 22)}`;
  };
  return owners.getOrCreate(salt === '' ? principal : `${salt}\0${principal}`, toHash);
}

/** Whether the header names this principal as the owner. */
export function isOwner({ principal: owner }: Pick<Header, 'principal'>, principal: string): boolean {
  const end = owner.indexOf('.');
  return owner === toOwner(principal, end < 0 ? '' : owner.slice(0, end));
}

/**
 * What a session of a caller without a login is counted and listed by, so that nobody takes the room of the others.
 * All stateless ones are one principal: a session belongs to it, so that its holder can come back from another network, but it counts for the
 * network address. A caller with a connection or a handshake of its own is a principal of its own; it also counts for its address, because
 * one address can open many. Undefined for a caller with a login, or without an address.
 */
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
