// The eras that open with `initialize`, towards clients. What is deleted here is served to nobody any more.
import { DRAFT_TOWARDS_CLIENTS } from '../draft/towards-clients.ts';
import { HANDSHAKE_TOWARDS_CLIENTS } from '../handshake/towards-clients.ts';
import type { EraTowardsClients } from './client-dialect.ts';

export const ERAS_TOWARDS_CLIENTS: readonly EraTowardsClients[] = [
  HANDSHAKE_TOWARDS_CLIENTS,
  DRAFT_TOWARDS_CLIENTS, //
];
