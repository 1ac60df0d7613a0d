// Clients that nobody has connected: the program itself makes a call, or looks at what a server offers.
import type { Implementation } from '@modelcontextprotocol/client';
import type { ClientView } from '../../kernel/exchange.ts';
import type { ClientOpening } from '../../kernel/target.ts';
import { NEWEST_HANDSHAKE } from './handshake/features.ts';
import { HANDSHAKE_FACTS_WITH_TASKS } from './handshake/facts.ts';
import { STATELESS_FACTS } from './stateless/facts.ts';
import { STATELESS } from './stateless/revisions.ts';

/** Of a client that has not said anything yet. */
export const ANYBODY: ClientOpening = { dialect: 'handshake', era: HANDSHAKE_FACTS_WITH_TASKS, capabilities: {} };

/** A client with a session. */
export function sessionClient(info: Implementation, principal: string): ClientView {
  return {
    dialect: 'handshake',
    era: HANDSHAKE_FACTS_WITH_TASKS,
    revision: NEWEST_HANDSHAKE,
    info,
    capabilities: {},
    principal,
  };
}

/** A client without a session: no server starts a process of its own for it. */
export function looseClient(name: string): ClientView {
  return {
    dialect: 'stateless',
    era: STATELESS_FACTS,
    revision: STATELESS,
    info: { name, version: '0' },
    capabilities: {},
    principal: 'local',
  };
}
