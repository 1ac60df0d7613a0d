// Initializes a server of an era with sessions. The first era of the list is tried first; another one if the server refuses it, or answers in its words.
import type { ServerEvents } from '../../../kernel/server-view.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { isLoop } from '../../../kernel/base/via.ts';
import { toOnlyRevision } from '../revisions.ts';
import type { ServerDialect, Wire } from './server-dialect.ts';
import type { InitializedServer, ServerIntroduction } from './server-opening.ts';
import { ERAS_TOWARDS_SERVERS } from './session-eras.ts';

/** `adopt` gets the dialect before the server gets `initialized`, because its first question may follow at once. */
export async function initializeServer(
  wire: Wire,
  intro: ServerIntroduction,
  events: ServerEvents,
  adopt: (dialect: ServerDialect) => void,
): Promise<InitializedServer> {
  const opened = await agree(wire, intro, events);
  adopt(opened.dialect);
  await wire.notify(opened.ready, opened.headers);
  return opened;
}

async function agree(wire: Wire, intro: ServerIntroduction, events: ServerEvents): Promise<InitializedServer> {
  const { era } = toOnlyRevision(intro);
  const [first, ...others] = ERAS_TOWARDS_SERVERS.filter(({ dialect }) => era === undefined || dialect === era);
  if (!first) throw new GatewayError('NO_COMMON_VERSION', { server: wire.name, offered: 'no session' });
  let result: unknown;
  try {
    result = await first.initialize(wire, intro);
  } catch (thrown) {
    // A server of another era answers the opening with an error; rethrow anything else.
    if (!(thrown instanceof ProtocolError) || isLoop(thrown) || isOfStateless(thrown)) throw thrown;
    for (const other of others) {
      const answer = await other.initialize(wire, intro).catch(() => undefined);
      if (other.isItsAnswer(answer)) return other.open(wire, answer, intro, events);
    }
    throw thrown;
  }
  const spoken = others.find((other) => other.isItsAnswer(result)) ?? first;
  return spoken.open(wire, result, intro, events);
}

/** Only servers of the newer era have these errors: a header mismatch (-32020), and a list of supported revisions (-32022). */
function isOfStateless({ code }: ProtocolError): boolean {
  return code === -32020 || code === -32022;
}
