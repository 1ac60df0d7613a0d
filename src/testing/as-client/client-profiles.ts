// The clients there are, by the way in which they can be asked. One word for each; which revision has which is not repeated here.
import type { Channel } from '../../gateway/ask/ask-channels.ts';
import { NEWEST_HANDSHAKE, PLAIN_FORMS, STATELESS } from '../../gateway/dialect/revisions.ts';

export interface ClientProfile {
  revision: string;
  /** How it plays a flow: over MCP Flow, by calling it, as a task, or by giving all it knows with the call. */
  plays: 'flow' | 'call' | 'task' | 'arguments';
  /** What it can show. */
  shows: readonly ('form' | 'link')[];
  /** How its user can be asked without it. */
  channels: readonly Channel[];
}

export const CLIENT_PROFILES = {
  /** Speaks MCP Flow. */
  flow: { revision: NEWEST_HANDSHAKE, plays: 'flow', shows: [], channels: [] },
  /** Shows forms while its call waits, and opens links. */
  form: { revision: NEWEST_HANDSHAKE, plays: 'call', shows: ['form', 'link'], channels: ['page'] },
  /** The same, in the first revision that had forms: no titles, no choice of several, no links. */
  'plain-form': { revision: PLAIN_FORMS, plays: 'call', shows: ['form'], channels: ['page'] },
  /** Its call is ended with the questions, and made again with the answers. */
  'input-required': { revision: STATELESS, plays: 'call', shows: ['form', 'link'], channels: ['page', 'relay'] },
  /** Follows the flow as a task. */
  task: { revision: NEWEST_HANDSHAKE, plays: 'task', shows: ['form', 'link'], channels: ['page'] },
  /** Cannot be asked; its user follows the link to our page. */
  page: { revision: STATELESS, plays: 'call', shows: [], channels: ['page'] },
  /** Cannot be asked; its model passes on what the user says. */
  relay: { revision: STATELESS, plays: 'call', shows: [], channels: ['relay'] },
  /** Cannot be asked at all; all answers are arguments of the call. */
  arguments: { revision: STATELESS, plays: 'arguments', shows: [], channels: [] },
} as const satisfies Record<string, ClientProfile>;

export type ClientKind = keyof typeof CLIENT_PROFILES;
