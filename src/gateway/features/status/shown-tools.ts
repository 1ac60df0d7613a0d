// Applies the steps of a gateway to the listed tools of a server, to count the tools that clients see. The list is given, so no
// request reaches the server.
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import { toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Step } from '../../../kernel/step.ts';
import { LIST_TOOLS } from '../../../kernel/methods.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { createChain } from '../../chain/chain.ts';
import { posesAsAnother } from '../../router/public-names.ts';

export interface ListedServerTools {
  /** The configured name of the server. */
  server: string;
  tools: JsonObject[];
}

interface Rules {
  steps: readonly Step[];
  /** All servers of the gateway. */
  servers: readonly string[];
  log: Log;
}

export async function shownTools(
  { server, tools }: ListedServerTools,
  client: ClientView,
  { steps, servers, log }: Rules,
): Promise<JsonObject[]> {
  const chain = createChain(steps, () => ({ tools }), {
    ownerOf: () => server,
    originOf: (_area, name) => ({ server, name, isPosing: posesAsAnother({ server, name }, servers) }),
    log,
    scope: `shown ${server}`, // one scope for all calls, so that what steps remember does not grow
  });
  const { tools: shown } = toPlainObject(await chain(new InternalExchange(LIST_TOOLS, {}, client)));
  return Array.isArray(shown) ? (shown as JsonObject[]) : [];
}
