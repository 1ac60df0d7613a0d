// What clients declare, as far as a server is told of it once for all calls: who declares the same may share a connection.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../../protocol/exchange.ts';
import type { ClientOpening } from '../../../protocol/target.ts';
import { TASKS_EXTENSION } from '../../dialect/meta.ts';

/** Who a client is, for servers that it has to itself. */
export type ClientIntroduction = Pick<ClientView, 'info' | 'greeting'>;

const NOTHING = '{}';
/** By what is answered in their place, of clients that declare nothing themselves; the same object for all of them. */
const assistedOnly = new WeakMap<ClientCapabilities, string>();

/** Asked for with every call, and most clients declare nothing. */
export function signatureOf(opening: ClientOpening | undefined): string {
  if (!opening) return NOTHING;
  const { capabilities, assisted } = opening;
  for (const _ in capabilities) return toSignature(opening);
  if (!assisted) return NOTHING;
  let known = assistedOnly.get(assisted);
  if (known === undefined) assistedOnly.set(assisted, (known = toSignature(opening)));
  return known;
}

function toSignature(opening: ClientOpening): string {
  return JSON.stringify(declaredCapabilities(opening)) + (hasOurRoots(opening) ? ' with our roots' : '');
}

export function hasOurRoots(opening: ClientOpening | undefined): boolean {
  return Boolean(opening?.assisted?.roots && !opening.capabilities.roots);
}

/** What of a client's capabilities a server is told of once for all calls. Roots of no session never change within it. */
export function declaredCapabilities({ capabilities, assisted, dialect }: ClientOpening): ClientCapabilities {
  const { roots, extensions, tasks: _own, ...declared } = { ...assisted, ...capabilities };
  const { [TASKS_EXTENSION]: _tasks, ...others } = extensions ?? {};
  return {
    ...declared,
    ...(roots && { roots: dialect === 'stateless' && capabilities.roots ? {} : roots }),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  };
}

/** For lists: hardly any server lists other things because of an experiment, and each client may have experiments of its own. */
export function withoutExperiments(opening: ClientOpening): ClientOpening {
  const { experimental, ...capabilities } = opening.capabilities;
  return experimental ? { ...opening, capabilities } : opening;
}

/** Undefined where it is not known, or differs from one request to the next. */
export function toClientIntroduction({ dialect, info, greeting }: ClientOpening): ClientIntroduction | undefined {
  return dialect === 'handshake' && info ? { info, greeting } : undefined;
}
