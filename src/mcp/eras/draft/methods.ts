// The methods of the draft dialect; a client may use no others, except those of MCP Flow.
import { INITIALIZE, LIST_RESOURCES, LIST_TOOLS, PING_PEER, TELL_CAPABILITIES } from '../../../kernel/methods.ts';
import type { MethodRegistry } from '../methods.ts';

export const DRAFT_METHODS: MethodRegistry = new Set([
  INITIALIZE,
  PING_PEER,
  LIST_TOOLS,
  'tools/invoke',
  LIST_RESOURCES,
  TELL_CAPABILITIES,
  'cancel',
  'shutdown',
]);
