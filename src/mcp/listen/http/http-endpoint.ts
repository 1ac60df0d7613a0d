// Serves all HTTP transports with one request handler: /mcp, /sse with /message, and those of upgrades.ts. Checks Host and Origin first
// on every path. `handle` mounts it into a Node HTTP server, `fetch` into servers that use web-standard requests.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { FairShares } from '../../../kernel/containers/fair-shares.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { createGuard, isLoopback } from '../guard.ts';
import { identifyCaller } from '../identify.ts';
import type { Caller, IdentifyPlace } from '../identify.ts';
import { refuseUpgrade, refuseUpgradeFor } from './refusals.ts';
import { createFindAddress } from './client-address.ts';
import type { EndpointOptions, EndpointSetup, ListeningAddress } from './endpoint-options.ts';
import { pathOf, readMount } from './mount.ts';
import type { Mount } from './mount.ts';
import { findPage, isAdminPage, isForBrowser } from './page-access.ts';
import { ALLOW, allowOf, createRoutes, isPage, refuseVisit, runUnlessLoop } from './routes.ts';
import type { UpgradeRequest } from './upgrade.ts';
import { UpgradedConnections } from './upgraded.ts';
import { findUpgrade } from './upgrades.ts';
import { toFetch } from './to-fetch.ts';
import type { Fetch } from './to-fetch.ts';

export interface HttpEndpoint {
  /** Answers 404 on other paths, or calls `next` if given: `app.use(endpoint.handle)`. */
  readonly handle: (request: HttpRequest, response: HttpResponse, next?: () => void) => void;
  /** For Hono, Next, Bun, Deno and Workers. Serves everything but what a connection is upgraded to (WebSocket), which does not fit into a Response. */
  readonly fetch: Fetch;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  close(): void;
}

/** With what a port needs to end in order. */
export interface ServedEndpoint extends HttpEndpoint {
  /** What is in flight, and what waits for an answer of its user. */
  calls(): Iterable<object>;
  /** Ends the streams and upgraded connections without a call. */
  sendAway(): void;
}

export function createHttpEndpoint(shared: ServeContext, options: EndpointSetup = {}): ServedEndpoint {
  const context: ServeContext = { ...shared, listens: new FairShares(shared.limits.maxListens) }; // closing this endpoint must not end the streams of another
  const mount = readMount(options.path);
  const guard = createEndpointGuard(options);
  const routes = createRoutes(context, options, mount);
  const entrance = createEntrance(options, mount);
  const { login, openPage, placeOf, identify } = entrance;
  const upgraded = new UpgradedConnections(context);

  const handle: HttpEndpoint['handle'] = (request, response, next) => {
    const path = mount.localPathOf(request);
    if (next && !isOurs(path, options) && !openPage(request, path)) return next();
    if (request.hop) return enterHop(routes, { path, openPage, login }, request, response);
    try {
      guard.check(request);
      if (request.headers.origin !== undefined) allowOrigin(request.headers.origin, response);
      if (request.method === 'OPTIONS') return answerPreflight(request, response, allowOf(path, context));
      const open = path === '/mcp' ? undefined : openPage(request, path);
      if (open) return routes.openPage(open, { request, response, principal: undefined });
      const place = login && placeOf(request, path);
      const access = login && { login, resource: place?.resource, nameless: login.namelessValidity };
      const caller = identify?.(request, { transport: 'http', ...place });
      if (caller instanceof Promise) routes.enterLater(path, { request, response, access, caller });
      else routes.enter(path, { request, response, access, principal: caller?.principal, identity: caller });
    } catch (thrown) {
      refuseVisit(context, { request, response }, thrown, path);
    }
  };

  return {
    handle,
    fetch: toFetch(handle),
    upgrade: createUpgrade({ context, guard, mount, upgraded, entrance }),
    ...endsOf(context, routes, upgraded),
  };
}

interface UpgradeParts {
  context: ServeContext;
  guard: EndpointGuard;
  mount: Mount;
  upgraded: UpgradedConnections;
  entrance: Entrance;
}

function createUpgrade({ context, guard, mount, upgraded, entrance }: UpgradeParts): HttpEndpoint['upgrade'] {
  const { login, placeOf, identify } = entrance;
  return (request: UpgradeRequest, socket, head) => {
    socket.on('error', () => {}); // an error before the new transport takes over must not end the process
    const fail = (thrown: unknown): void => refuseUpgradeFor(context, { request, socket }, thrown);
    try {
      guard.check(request);
      const to = findUpgrade('path', mount.localPathOf(request));
      if (!to) return refuseUpgrade(socket, '404 Not Found');
      const nameless = login?.namelessValidity;
      const go = (caller: Caller): void => {
        const entrant = { caller, validity: caller ? caller.validity : nameless };
        runUnlessLoop(context, request, () => void upgraded.upgrade(to, request, socket, head, entrant).catch(fail));
      };
      const caller = identify?.(request, { transport: to.transport, ...(login && placeOf(request, to.path)) });
      if (caller instanceof Promise) caller.then(go).catch(fail);
      else go(caller);
    } catch (thrown) {
      fail(thrown);
    }
  };
}

interface HopPlace extends Pick<Entrance, 'openPage' | 'login'> {
  path: string;
}

/** What another gateway has let in: who calls is known. */
function enterHop(
  routes: ReturnType<typeof createRoutes>,
  { path, openPage, login }: HopPlace,
  request: HttpRequest,
  response: HttpResponse,
): void {
  const { principal, identity, resource } = request.hop!;
  const visit = { request, response, principal, identity, access: login && { login, resource } };
  const open = path === '/mcp' ? undefined : openPage(request, path);
  if (open) routes.openPage(open, visit);
  else routes.enterHop(path, visit);
}

type Served = Pick<ServedEndpoint, 'calls' | 'sendAway' | 'close'>;

function endsOf({ listens }: ServeContext, routes: Served, upgraded: Served): Served {
  return {
    calls: () => [...routes.calls(), ...upgraded.calls()],
    sendAway() {
      listens.endAll();
      upgraded.sendAway();
      routes.sendAway();
    },
    close() {
      listens.endAll();
      upgraded.close();
      routes.close();
    },
  };
}

interface EndpointGuard {
  check(request: UpgradeRequest | HttpRequest): void;
}

/** Finds out where a request comes from, and checks its Host and Origin. */
function createEndpointGuard(options: EndpointOptions): EndpointGuard {
  const guard = createGuard(options.host ?? '127.0.0.1', options);
  const findAddress = createFindAddress(options.trustProxy);
  if (!findAddress) return guard;
  return {
    check(request) {
      request.clientAddress = findAddress(request);
      guard.check(request);
    },
  };
}

type Entrance = ReturnType<typeof createEntrance>;

/** Finds out who calls, and for which URL. Nothing is done per request where nobody is identified. */
function createEntrance({ login, needsIdentity, address = () => undefined, ...options }: EndpointSetup, mount: Mount) {
  if (login && options.identify !== login.identify)
    throw new GatewayError('BAD_OPTION', { option: 'identify', reason: '`auth` says already who calls' });
  const urlOf = createUrlOf(options.publicUrl, mount, address);
  const { identify: ask, openPages = {} } = options;
  const identify = (request: HttpRequest, place: IdentifyPlace): Caller | Promise<Caller> => {
    const found = identifyCaller(ask!, request, place);
    const toCaller = needsIdentity ? refuseNameless : refuseUnknown;
    return found instanceof Promise ? found.then(toCaller) : toCaller(found);
  };
  const placeOf = rememberLast((request: HttpRequest, local: string) => ({
    resource: urlOf(request, local),
    endpoint: urlOf(request, '/mcp'),
    isAdmin: isAdminPage(local),
  }));
  /** A page that needs no login. */
  const openPage = (request: HttpRequest, local: string): HttpHandler | undefined => {
    if (!isForBrowser(local, request)) return undefined;
    if (Object.hasOwn(openPages, local)) return openPages[local];
    const ofLogin = login?.openPage({ path: pathOf(request), local, endpoint: () => urlOf(request, '/mcp') });
    return ofLogin ?? findPage(openPages, local); // /ask/callback is a page of the login
  };
  return { login, openPage, placeOf, identify: ask && identify };
}

/**
 * The URL of a path, as clients write it and as tokens name it in `aud` (RFC 8707); undefined if the own address is unknown. It comes from
 * `publicUrl`, or from the port that is open. The Host header decides only which loopback name is used: a caller must not choose for which
 * server a token counts.
 */
function createUrlOf(
  publicUrl: string | undefined,
  mount: Mount,
  address: () => ListeningAddress | undefined,
): (request: HttpRequest, local: string) => string | undefined {
  const cut = mount.path.lastIndexOf('/');
  const [folder, name] = [mount.path.slice(0, cut), mount.path.slice(cut)];
  const base = publicUrl?.replace(/\/+$/, '');
  const own = ({ headers }: HttpRequest): string | undefined => {
    const at = address();
    const host = headers.host?.toLowerCase().replace(/:\d+$/, '') ?? '';
    return at && isLoopback(host) ? `${at.isTls ? 'https' : 'http'}://${host}:${at.port}${folder}` : undefined;
  };
  return (request, local) => {
    const start = base ?? own(request);
    if (start === undefined) return undefined;
    if (local === '/mcp' || local.startsWith('/mcp/')) return `${start}${name}${local.slice('/mcp'.length)}`;
    return start + (local === '/message' ? '/sse' : local);
  };
}

/** Most requests come for the same place. */
function rememberLast<T>(placeOf: (request: HttpRequest, local: string) => T): typeof placeOf {
  let last: { host: string | undefined; local: string; place: T } | undefined;
  return (request, local) => {
    const { host } = request.headers;
    if (last?.host !== host || last?.local !== local) last = { host, local, place: placeOf(request, local) };
    return last.place;
  };
}

/** A hook that finds nobody, such as a lookup in a map, must not let everybody in. */
function refuseUnknown(caller: Caller | null): Caller {
  return caller === null ? undefined : refuseNameless(caller);
}

function refuseNameless(caller: Caller | null): Caller {
  if (caller) return caller;
  throw new GatewayError('UNAUTHORIZED', { reason: 'the server does not know this caller' });
}

function isOurs(path: string, options: EndpointOptions): boolean {
  const isPart = options.part !== undefined && path.startsWith('/mcp/');
  return (
    Object.hasOwn(ALLOW, path) || isPart || isPage(path, options) || findPage(options.openPages, path) !== undefined
  );
}

/** CORS headers for web pages. The guard has already accepted their Origin. */
function allowOrigin(origin: string, response: HttpResponse): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce');
  response.setHeader('vary', 'Origin');
}

/** Allows the headers that are asked for, because tools choose the names of `Mcp-Param-*` headers. */
function answerPreflight(request: HttpRequest, response: HttpResponse, methods: string): void {
  const asked = request.headers['access-control-request-headers'];
  response.writeHead(204, {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': asked ?? 'Content-Type, Authorization, Mcp-Session-Id, MCP-Protocol-Version',
    'access-control-max-age': '600',
  });
  response.end();
}
