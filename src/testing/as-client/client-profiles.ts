// The kinds of test clients, by how their user can be asked.
import type { Channel } from '../../people/ask-channels.ts';
import { NEWEST_HANDSHAKE, PLAIN_FORMS } from '../../mcp/eras/handshake/features.ts';
import { STATELESS } from '../../mcp/eras/stateless/revisions.ts';

export interface ClientProfile {
  revision: string;
  /** How it runs a flow: over MCP Flow, by a call, as a task, or with all answers as arguments. */
  plays: 'flow' | 'call' | 'task' | 'arguments';
  /** What it can show. */
  shows: readonly ('form' | 'link')[];
  /** How its user can be asked without the client. */
  channels: readonly Channel[];
}

export const CLIENT_PROFILES = {
  /** Speaks MCP Flow. */
  flow: { revision: NEWEST_HANDSHAKE, plays: 'flow', shows: [], channels: [] },
  /** Shows forms while its call waits, and opens links. */
  form: { revision: NEWEST_HANDSHAKE, plays: 'call', shows: ['form', 'link'], channels: ['page'] },
  /** The same in the first revision with forms: no titles, no multiple choice, no links. */
  'plain-form': { revision: PLAIN_FORMS, plays: 'call', shows: ['form'], channels: ['page'] },
  /** Its call ends with the questions and is repeated with the answers. */
  'input-required': { revision: STATELESS, plays: 'call', shows: ['form', 'link'], channels: ['page', 'relay'] },
  /** Follows the flow as a task. */
  task: { revision: NEWEST_HANDSHAKE, plays: 'task', shows: ['form', 'link'], channels: ['page'] },
  /** Cannot be asked; its user opens the link to Parley's page. */
  page: { revision: STATELESS, plays: 'call', shows: [], channels: ['page'] },
  /** Cannot be asked; its model relays what the user says. */
  relay: { revision: STATELESS, plays: 'call', shows: [], channels: ['relay'] },
  /** Cannot be asked at all; all answers are arguments. */
  arguments: { revision: STATELESS, plays: 'arguments', shows: [], channels: [] },
} as const satisfies Record<string, ClientProfile>;

export type ClientKind = keyof typeof CLIENT_PROFILES;
