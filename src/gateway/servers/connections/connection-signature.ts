// Summarizes what a client declares to a server once per connection. Clients with the same signature may share a connection.
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { ClientOpening } from '../../../kernel/target.ts';
import type { ClientIntroduction } from '../../../mcp/connect/connected-server.ts';
import { toShortKey } from '../../../kernel/base/short-name.ts';

const NOTHING = '{}';
/** Signatures of clients that declare nothing themselves, by the capabilities that the gateway adds for them. */
const assistedOnly = new WeakMap<ClientCapabilities, string>();

/** Runs for every call, and most clients declare nothing. */
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
  return toShortKey(JSON.stringify(declaredCapabilities(opening))) + (hasOurRoots(opening) ? ' with our roots' : '');
}

export function hasOurRoots(opening: ClientOpening | undefined): boolean {
  return Boolean(opening?.assisted?.roots && !opening.capabilities.roots);
}

/** The capabilities declared to a server once per connection. Without a session, roots never change. */
export function declaredCapabilities({ capabilities, assisted, era }: ClientOpening): ClientCapabilities {
  const { roots, extensions, tasks: _own, ...declared } = { ...assisted, ...capabilities };
  const { [TASKS_EXTENSION]: _tasks, ...others } = extensions ?? {};
  return {
    ...declared,
    ...(roots && { roots: !era.hasSession && capabilities.roots ? {} : roots }),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  };
}

/** For lists: they hardly ever depend on experimental capabilities, and each client may have its own. */
export function withoutExperiments(opening: ClientOpening): ClientOpening {
  const { experimental, ...capabilities } = opening.capabilities;
  return experimental ? { ...opening, capabilities } : opening;
}

/** Undefined if the client is unknown, or may differ from one request to the next. */
export function toClientIntroduction({ era, info, greeting }: ClientOpening): ClientIntroduction | undefined {
  return era.introducesClient && info ? { info, greeting } : undefined;
}

/** The key of a connection opened in a client's name; only clients of the same name share it. */
export function namedKeyOf(opening: ClientOpening, introduction: ClientIntroduction): string {
  return `${signatureOf(opening)} ${JSON.stringify(introduction)}`;
}

/** A held question for roots waits on the connection for the next call, which must come from the same kind of client. */
export function ownerOf({ principal, dialect, assisted }: ClientView, use = ''): string {
  return `${use} ${dialect}${assisted ? ' assisted' : ''} ${principal}`;
}
