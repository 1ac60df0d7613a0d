// Which era a message belongs to. The body decides, except that a live session or a handshake version header wins over
// it: some clients negotiate 2025-11-25 and send the stateless `_meta` keys all the same (matrix §2.14).
import type { Message } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { META } from './meta.ts';
import { isHandshake, isStateless } from './revisions.ts';

export interface Evidence {
  /** The message belongs to a conversation that has been initialized. */
  session: boolean;
  /** `MCP-Protocol-Version`, where the transport has headers. */
  versionHeader?: string | undefined;
}

export function isStatelessMessage(message: Message, evidence: Evidence): boolean {
  const { session, versionHeader } = evidence;
  if (session || !('method' in message)) return false;
  if (versionHeader !== undefined && isHandshake(versionHeader)) return false;
  if (versionHeader !== undefined && isStateless(versionHeader)) return true;
  const claimed = claimedVersion(message.params);
  if (claimed === undefined) return false;
  return message.method === 'initialize' ? isStateless(claimed) : true;
}

/** What the envelope names, whatever it is: an unknown version must be refused in the words of the stateless era. */
function claimedVersion(params: unknown): string | undefined {
  if (!isObject(params) || !isObject(params._meta)) return undefined;
  const claimed = params._meta[META.protocolVersion];
  return typeof claimed === 'string' ? claimed : undefined;
}
