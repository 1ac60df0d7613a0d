// The eras that open with `initialize`, towards servers, in the order in which they are tried. What is deleted here nobody is asked for any more.
import { DRAFT_TOWARDS_SERVERS } from '../draft/towards-servers.ts';
import { HANDSHAKE_TOWARDS_SERVERS } from '../handshake/towards-servers.ts';
import type { EraTowardsServers } from './server-opening.ts';

export const ERAS_TOWARDS_SERVERS: readonly EraTowardsServers[] = [
  HANDSHAKE_TOWARDS_SERVERS,
  DRAFT_TOWARDS_SERVERS, //
];
