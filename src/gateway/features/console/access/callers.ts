// A caller by what people call them, for the question what would happen to their call. A client that is connected is taken as it is; an API key as it is kept; of
// anybody else only the name is known.
import type { ClientView, Identity } from '../../../../kernel/exchange.ts';
import type { ListedKey } from '../../../../mcp/listen/auth/api-keys.ts';
import { OBSERVER } from '../../../servers/gateway-status.ts';
import type { ConnectedClients } from '../connected-clients.ts';

interface KnownCallers {
  readonly keys: readonly ListedKey[];
  readonly clients: ConnectedClients;
}

interface FoundCaller {
  readonly client: ClientView;
  /** Its groups, scopes and claims are known. */
  readonly isKnown: boolean;
}

export function toCallerName({ name }: ListedKey): string {
  return `key:${name}`;
}

/** `name`: such as `key:laptop`, `user:ann`, a principal, or `anonymous`. */
export function findCaller(name: string, { keys, clients }: KnownCallers): FoundCaller {
  if (name === '' || name === 'anonymous') return { client: OBSERVER, isKnown: true };
  const bare = name.replace(/^user:/, '');
  const key = keys.find((one) => toCallerName(one) === name) ?? keys.find((one) => one.principal === `key:${bare}`);
  if (key) return { client: as(identityOf(key)), isKnown: true };
  const connected = clients.find(name) ?? clients.find(bare);
  if (connected) return { client: connected, isKnown: true };
  return { client: as({ principal: bare }), isKnown: false };
}

function as(identity: Identity): ClientView {
  return { ...OBSERVER, principal: identity.principal, connection: { transport: 'http', identity } };
}

function identityOf({ name, principal, scopes, groups }: ListedKey): Identity {
  return { principal, key: name, ...(scopes && { scopes }), groups };
}
