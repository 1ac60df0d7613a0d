// Finds out how a server wants to be spoken to: the newest era first, then the handshake, then the transport of the oldest
// servers. A server that dies of the first question is started again and not asked it a second time; one that stays silent
// is taken for a handshake server, and asked again in the new words when it turns out not to be one.
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import { discoverServer } from '../dialect/discover-server.ts';
import { initializeServer } from '../dialect/initialize-server.ts';
import type { Introduction } from '../dialect/initialize-server.ts';
import { openingsFor } from '../dialect/revisions.ts';
import type { Speaker } from '../dialect/speaker.ts';
import type { StatelessIdentity } from '../dialect/stateless/stateless-speaker.ts';
import type { ServerEvents } from '../../protocol/server-view.ts';
import type { Route } from './address.ts';
import type { Link } from './link.ts';
import type { LinkWire } from './link-wire.ts';

export interface Connected {
  link: Link;
  wire: LinkWire;
  speaker: Speaker;
}

export interface NegotiateOptions {
  intro: Introduction;
  identity: StatelessIdentity;
  events: ServerEvents;
  /** How long a server on a shared channel may be silent to the first question. */
  probeMs: number;
  connect(link: Link): Promise<LinkWire>;
}

export async function negotiate(route: Route, options: NegotiateOptions): Promise<Connected> {
  try {
    return await openFirst(route, options);
  } catch (thrown) {
    if (!route.fallback || !isWrongTransport(thrown)) throw thrown;
    return negotiate(route.fallback, { ...options, intro: options.intro }).catch((second: unknown) => {
      // Both failed: what the newer transport said is of more use, unless nobody was there at all.
      throw second instanceof GatewayError && second.code === 'UPSTREAM_UNREACHABLE' ? thrown : second;
    });
  }
}

/** Opens the handshake anew on a link whose session the server has forgotten. */
export async function reinitialize({ link, wire }: Connected, options: NegotiateOptions): Promise<Speaker> {
  return handshake(link, wire, options);
}

async function openFirst(route: Route, options: NegotiateOptions): Promise<Connected> {
  const { discover, initialize } = openingsFor(options.intro.revision);
  const link = route.open();
  const wire = await options.connect(link);
  try {
    if (!discover) return { link, wire, speaker: await handshake(link, wire, options) };
    const speaker = await probe(wire, options);
    if (typeof speaker === 'object') return { link, wire, speaker: adopt(wire, speaker) };
    if (!initialize) throw noCommonVersion(wire);
    return await openHandshake({ link, wire }, route, options, speaker);
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
}

type Verdict = 'other-era' | 'silent' | 'died';

async function probe(wire: LinkWire, options: NegotiateOptions): Promise<Speaker | Verdict> {
  const { identity, events, probeMs, intro } = options;
  const shared = !wire.http && intro.revision === undefined;
  try {
    return (await discoverServer(wire, identity, events, shared ? probeMs : undefined)) ?? 'other-era';
  } catch (thrown) {
    if (!shared || !(thrown instanceof GatewayError)) throw thrown;
    if (thrown.code === 'UPSTREAM_TIMEOUT') return 'silent';
    if (thrown.code === 'UPSTREAM_CLOSED') return 'died';
    throw thrown;
  }
}

async function openHandshake(
  { link, wire }: Omit<Connected, 'speaker'>,
  route: Route,
  options: NegotiateOptions,
  verdict: Verdict,
): Promise<Connected> {
  if (verdict === 'died') {
    if (!route.canReopen) throw noCommonVersion(wire);
    await link.close();
    const fresh = route.open();
    const freshWire = await options.connect(fresh);
    return { link: fresh, wire: freshWire, speaker: await handshake(fresh, freshWire, options) };
  }
  try {
    return { link, wire, speaker: await handshake(link, wire, options) };
  } catch (thrown) {
    if (verdict !== 'silent' || !(thrown instanceof ProtocolError)) throw thrown;
    const speaker = await discoverServer(wire, options.identity, options.events);
    if (!speaker) throw thrown;
    return { link, wire, speaker: adopt(wire, speaker) };
  }
}

async function handshake(link: Link, wire: LinkWire, options: NegotiateOptions): Promise<Speaker> {
  const { speaker, headers } = await initializeServer(wire, options.intro, options.events, (early) =>
    adopt(wire, early),
  );
  link.setHeaders?.(headers);
  link.listen?.();
  return speaker;
}

function adopt(wire: LinkWire, speaker: Speaker): Speaker {
  wire.speaker = speaker;
  return speaker;
}

/** The URL answered, but not to this way of speaking. */
function isWrongTransport(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false;
  return [400, 404, 405, 406, 415, 501].includes(Number(thrown.details.status));
}

function noCommonVersion(wire: LinkWire): GatewayError {
  return new GatewayError('NO_COMMON_VERSION', { server: wire.name, offered: 'another era' });
}
