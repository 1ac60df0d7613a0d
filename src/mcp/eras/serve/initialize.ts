// Chooses the dialect of a connection by its `initialize`. The openings of the eras share no required key, so the choice is certain.
import { MISSING, toInvalid } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { HandshakeClientDialect } from '../handshake/handshake-client-dialect.ts';
import { sessionClient } from '../own-clients.ts';
import type { SessionDialect, ClientSession } from './client-dialect.ts';
import { ERAS_TOWARDS_CLIENTS } from './session-eras.ts';

/** Served before the handshake: health check and the Flow declaration. */
export const OPEN_METHODS: ReadonlySet<string> = new Set(['ping', 'capabilities', 'initialize']);
/** After these, the client may be asked questions. */
export const INITIALIZED: ReadonlySet<string> = new Set(['notifications/initialized', 'initialized']);

/** The dialect for a client that opened with these parameters. */
export function chooseClientDialect(params: JsonObject, session: ClientSession): SessionDialect {
  const era = ERAS_TOWARDS_CLIENTS.find((one) => one.isOpening(params));
  if (era) return era.toDialect(params, session);
  throw toInvalid('protocolVersion', params.protocolVersion === undefined ? MISSING : 'Must be a string');
}

/** For the few methods that are served before `initialize`. */
export function preliminaryDialect(session: ClientSession): SessionDialect {
  const info = { name: 'unknown', version: '0' };
  return new HandshakeClientDialect(session, sessionClient(info, session.principal));
}
