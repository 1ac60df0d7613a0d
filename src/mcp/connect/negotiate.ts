// Negotiates era and transport with a server: the preferred era first, then the other, then the transport of the oldest servers.
// Invariants:
// 1. A server that dies when asked for the newer era is restarted once, and not asked again.
// 2. A server that does not answer is treated as a handshake server, and asked again if it turns out not to be one.
// 3. After a refused handshake the newer era is tried only if the refusal may be about eras.
// 4. Every opened link is either returned or closed.
import type { SpokenEra } from '../../kernel/era/era.ts';
import type { ServerEvents } from '../../kernel/server-view.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { discoverServer, isOtherEra } from '../eras/speak/discover-server.ts';
import { initializeServer } from '../eras/speak/initialize-server.ts';
import type { ServerIntroduction } from '../eras/speak/server-opening.ts';
import { openingsFor } from '../eras/revisions.ts';
import type { ServerDialect } from '../eras/speak/server-dialect.ts';
import type { StatelessIdentity } from '../eras/stateless/envelope.ts';
import type { Route } from './route.ts';
import type { Link } from './links/link.ts';
import type { RpcPeer } from './rpc-peer.ts';
import { retryOpening } from './backoff.ts';

/** Errors of the older transport that say less than those of the newer one, because most servers do not have it. */
const USELESS = ['UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED', 'UPSTREAM_INVALID'] as const;

interface OpenedLink {
  link: Link;
  wire: RpcPeer;
}

export interface NegotiatedConnection extends OpenedLink {
  speaker: ServerDialect;
}

export interface NegotiateOptions {
  intro: ServerIntroduction;
  identity: StatelessIdentity;
  events: ServerEvents;
  /** The ids of the gateways on the way to the server, this one last; sent with the first request. */
  via?: (() => readonly string[] | undefined) | undefined;
  prefer?: SpokenEra | undefined;
  /** How long a server on a shared channel may take to answer the first request. */
  probeMs: number;
  signal?: AbortSignal | undefined;
  connect(link: Link): Promise<RpcPeer>;
}

export async function negotiateConnection(route: Route, options: NegotiateOptions): Promise<NegotiatedConnection> {
  const { fallback } = route;
  const { signal } = options;
  try {
    return await (route.canReopen ? retryOpening(() => openBy(route, options), { signal }) : openBy(route, options));
  } catch (thrown) {
    if (!fallback || !isWrongTransport(thrown)) throw thrown;
    return negotiateConnection(fallback, options).catch((second: unknown) => {
      // Both failed: the error of the newer transport is more useful, unless a server answered on the older one.
      throw USELESS.some((code) => isCode(second, code)) ? thrown : second;
    });
  }
}

/** Repeats the handshake on a link whose session the server has forgotten. */
export function reinitialize(opened: OpenedLink, options: NegotiateOptions): Promise<ServerDialect> {
  return handshake(opened, options);
}

async function openBy(route: Route, options: NegotiateOptions): Promise<NegotiatedConnection> {
  const [first, second] = openingsFor(options.intro, options.prefer);
  if (first === 'initialize') {
    return onFresh(route, options, second ? handshakeFirst(options) : (opened) => handshake(opened, options));
  }
  const initialize = second !== undefined;
  let isShared = false;
  try {
    return await onFresh(route, options, async (opened) => {
      isShared = !opened.wire.http;
      const verdict = await probe(opened.wire, options);
      if (typeof verdict === 'object') return verdict;
      if (!initialize) throw noCommonVersion(opened.wire);
      return afterProbe(opened, verdict, options);
    });
  } catch (thrown) {
    const died = isShared && isCode(thrown, 'UPSTREAM_CLOSED');
    if (!died || !initialize || !route.canReopen) throw thrown;
    return onFresh(route, options, (opened) => handshake(opened, options));
  }
}

function handshakeFirst(options: NegotiateOptions): (opened: OpenedLink) => Promise<ServerDialect> {
  return async (opened) => {
    try {
      return await handshake(opened, options);
    } catch (thrown) {
      if (!isOtherEra(thrown)) throw thrown;
      opened.link.forgetSession?.();
      const speaker = await discover(opened.wire, options, !opened.wire.http).catch(() => undefined);
      if (!speaker) throw thrown; // its answer to the handshake is more useful
      return speaker;
    }
  };
}

async function onFresh(
  route: Route,
  options: NegotiateOptions,
  speak: (opened: OpenedLink) => Promise<ServerDialect>,
): Promise<NegotiatedConnection> {
  const link = await route.open();
  try {
    const wire = await options.connect(link);
    return { link, wire, speaker: await speak({ link, wire }) };
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
}

async function probe(wire: RpcPeer, options: NegotiateOptions): Promise<ServerDialect | 'other-era' | 'silent'> {
  // Silence is an answer only where a server may not know the request; on HTTP it is an outage.
  const isBounded = !wire.http && openingsFor(options.intro).includes('initialize');
  try {
    return (await discover(wire, options, isBounded)) ?? 'other-era';
  } catch (thrown) {
    if (isBounded && isCode(thrown, 'UPSTREAM_TIMEOUT')) return 'silent';
    throw thrown;
  }
}

async function afterProbe(
  opened: OpenedLink,
  verdict: 'other-era' | 'silent',
  options: NegotiateOptions,
): Promise<ServerDialect> {
  try {
    return await handshake(opened, options);
  } catch (thrown) {
    const refused = thrown instanceof ProtocolError || isCode(thrown, 'NO_COMMON_VERSION');
    if (verdict !== 'silent' || !refused) throw thrown;
    // It was slow to start, not silent, and does not know the handshake.
    const speaker = await discover(opened.wire, options, false);
    if (!speaker) throw thrown;
    return speaker;
  }
}

/** Asks the server for the newer era; undefined if it speaks the other one. `isBounded`: within `probeMs`. */
async function discover(
  wire: RpcPeer,
  { intro, identity, events, probeMs, via }: NegotiateOptions,
  isBounded: boolean,
): Promise<ServerDialect | undefined> {
  const question = { revision: intro.revision, via: via?.(), timeoutMs: isBounded ? probeMs : undefined };
  const speaker = await discoverServer(wire, identity, events, question);
  if (speaker) wire.adopt(speaker);
  return speaker;
}

async function handshake({ link, wire }: OpenedLink, options: NegotiateOptions): Promise<ServerDialect> {
  const { dialect, headers } = await initializeServer(
    wire,
    { ...options.intro, via: options.via?.() },
    options.events,
    (early) => wire.adopt(early),
  );
  link.setHeaders?.(headers);
  link.listen?.();
  return dialect;
}

/** The URL answered, but not with this transport. */
function isWrongTransport(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false;
  return [400, 404, 405, 406, 415, 501].includes(Number(thrown.details.status));
}

function isCode(thrown: unknown, code: GatewayError['code']): boolean {
  return thrown instanceof GatewayError && thrown.code === code;
}

function noCommonVersion(wire: RpcPeer): GatewayError {
  return new GatewayError('NO_COMMON_VERSION', { server: wire.name, offered: 'another era' });
}
