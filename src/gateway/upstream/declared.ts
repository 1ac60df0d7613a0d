// What clients declare, as far as a server is told of it once for all calls: who declares the same may share a connection.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Opening } from '../../protocol/target.ts';
import { TASKS_EXTENSION } from '../dialect/meta.ts';

const NOTHING = '{}';

/** Asked for with every call, and most clients declare nothing. */
export function signatureOf(opening: Opening | undefined): string {
  if (!opening || (isEmpty(opening.capabilities) && isEmpty(opening.assisted))) return NOTHING;
  return JSON.stringify(declaredBy(opening)) + (hasOurRoots(opening) ? ' with our roots' : '');
}

function isEmpty(capabilities: ClientCapabilities | undefined): boolean {
  for (const _ in capabilities) return false;
  return true;
}

export function hasOurRoots(opening: Opening | undefined): boolean {
  return Boolean(opening?.assisted?.roots && !opening.capabilities.roots);
}

/** What of a client's capabilities a server is told of once for all calls. Roots of no session never change within it. */
export function declaredBy({ capabilities, assisted, dialect }: Opening): ClientCapabilities {
  const { elicitation, sampling, roots, experimental, extensions } = { ...assisted, ...capabilities };
  const { [TASKS_EXTENSION]: _tasks, ...others } = extensions ?? {};
  return {
    ...(elicitation && { elicitation }),
    ...(sampling && { sampling }),
    ...(roots && { roots: dialect === 'stateless' && capabilities.roots ? {} : roots }),
    ...(experimental && { experimental }),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  };
}
