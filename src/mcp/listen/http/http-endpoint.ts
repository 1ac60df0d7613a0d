// Serves all HTTP transports with one request handler: /mcp, /sse with /message, and those of upgrades.ts. Checks Host and Origin first
// on every path. `handle` mounts it into a Node HTTP server, `fetch` into servers that use web-standard requests.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { nextArrival } from '../../../kernel/arrival.ts';
import { GatewayError, toReadable } from '../../../kernel/base/errors.ts';
import { FairShares } from '../../../kernel/containers/fair-shares.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import { VIA_HEADER, readVia, runUnlessVisited } from '../../../kernel/base/via.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { createGuard, isLoopback } from '../guard.ts';
import type { GuardOptions } from '../guard.ts';
import { identifyCaller } from '../identify.ts';
import type { Caller, Identify, IdentifyPlace } from '../identify.ts';
import type { Login } from '../login.ts';
import { endWhenInvalid, refuseRequest, refuseUpgrade, refuseUpgradeFor, runPage } from './refusals.ts';
import { createFindAddress } from './client-address.ts';
import type { TrustProxy } from './client-address.ts';
import { LegacySse } from './legacy-sse.ts';
import { checkPage, findPage } from './page-access.ts';
import { StreamableHttp } from './streamable-http.ts';
import type { HttpVisit } from './streamable-http.ts';
import type { UpgradeRequest } from './upgrade.ts';
import { UpgradedConnections } from './upgraded.ts';
import { findUpgrade } from './upgrades.ts';
import { toFetch } from './to-fetch.ts';
import type { Fetch } from './to-fetch.ts';

export interface EndpointOptions extends GuardOptions {
  /** The address the server listens on; decides which Host names are trusted by default. */
  host?: string | undefined;
  /**
   * The path of Streamable HTTP, /mcp by default. The paths `sse`, `message`, `ws` and pages lie beside it, as in
   * /api/mcp and /api/sse.
   */
  path?: string | undefined;
  identify?: Identify | undefined;
  /**
   * Proxies whose `X-Forwarded-For` or `Forwarded` says where clients come from: `true` for every peer, `loopback` for those on this machine, or
   * addresses and networks. Default: none, and a client's address is that of its connection.
   */
  trustProxy?: TrustProxy | undefined;
  /** Returns the context served at /mcp/<name>; throws SERVER_UNKNOWN. */
  part?: ((name: string) => ServeContext) | undefined;
  /** Further pages by path, such as /healthz. */
  pages?: Record<string, HttpHandler> | undefined;
  /** Pages that need no identity: knowing the URL is enough. */
  openPages?: Readonly<Record<string, HttpHandler>> | undefined;
}

/** What the listener adds to the options. */
export interface EndpointSetup extends EndpointOptions {
  /** Made of `auth`; its `identify` is the one of the options. */
  login?: Login | undefined;
  /** Callers whom `identify` does not know are refused. */
  needsIdentity?: boolean | undefined;
  /** Where the port is open; undefined inside another HTTP server. */
  address?: (() => ListeningAddress | undefined) | undefined;
}

export interface ListeningAddress {
  readonly port: number;
  readonly isTls: boolean;
}

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

/** A request whose caller is not identified yet. */
interface Arrival extends Pick<HttpVisit, 'request' | 'response' | 'access'> {
  caller: Promise<Caller>;
}

const ALLOW: Record<string, string> = { '/mcp': 'GET, POST, DELETE', '/sse': 'GET, POST', '/message': 'POST' };

export function createHttpEndpoint(shared: ServeContext, options: EndpointSetup = {}): ServedEndpoint {
  const context: ServeContext = { ...shared, listens: new FairShares(shared.limits.maxListens) }; // closing this endpoint must not end the streams of another
  const mount = readMount(options.path);
  const guard = createEndpointGuard(options);
  const routes = createRoutes(context, options, mount);
  const { login, openPage, placeOf, identify } = createEntrance(options, mount);
  const upgraded = new UpgradedConnections(context);

  const handle: HttpEndpoint['handle'] = (request, response, next) => {
    const path = mount.localPathOf(request);
    if (next && !isOurs(path, options) && !openPage(request, path)) return next();
    try {
      guard.check(request);
      if (request.headers.origin !== undefined) allowOrigin(request.headers.origin, response);
      if (request.method === 'OPTIONS') return answerPreflight(request, response, allowOf(path, context));
      const open = path === '/mcp' ? undefined : openPage(request, path);
      if (open) return open(request, response);
      const place = login && placeOf(request, path);
      const access = login && { login, resource: place?.resource };
      const caller = identify?.(request, { transport: 'http', ...place });
      if (caller instanceof Promise) routes.enterLater(path, { request, response, access, caller });
      else routes.enter(path, { request, response, access, principal: caller?.principal, identity: caller });
    } catch (thrown) {
      refuse(context, { request, response }, thrown, path);
    }
  };

  return {
    handle,
    fetch: toFetch(handle),
    upgrade(request: UpgradeRequest, socket, head) {
      socket.on('error', () => {}); // an error before the new transport takes over must not end the process
      const fail = (thrown: unknown): void => refuseUpgradeFor(context, { request, socket }, thrown);
      try {
        guard.check(request);
        const to = findUpgrade('path', mount.localPathOf(request));
        if (!to) return refuseUpgrade(socket, '404 Not Found');
        const go = (caller: Caller): void =>
          runUnlessLoop(context, request, () => void upgraded.upgrade(to, request, socket, head, caller).catch(fail));
        const caller = identify?.(request, { transport: to.transport, ...(login && placeOf(request, to.path)) });
        if (caller instanceof Promise) caller.then(go).catch(fail);
        else go(caller);
      } catch (thrown) {
        fail(thrown);
      }
    },
    ...endsOf(context, routes, upgraded),
  };
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

/** Where the endpoint is mounted. Inside, paths are always those of an endpoint at /mcp. */
interface Mount {
  readonly path: string;
  /** The path of a request as it would be at /mcp; a path outside this endpoint becomes one that nothing answers. */
  readonly localPathOf: (request: Pick<HttpRequest, 'url'>) => string;
}

const DEFAULT: Mount = { path: '/mcp', localPathOf: pathOf };

export function readMount(path: string | undefined): Mount {
  if (path === undefined || path === DEFAULT.path) return DEFAULT;
  if (!/^(\/[^/?#\s]+)+$/.test(path)) {
    throw new GatewayError('BAD_OPTION', {
      option: 'path',
      reason: `write it like /api/mcp, not ${JSON.stringify(path)}`,
    });
  }
  const folder = path.slice(0, path.lastIndexOf('/'));
  return {
    path,
    localPathOf(request) {
      const called = pathOf(request);
      if (called === path || called.startsWith(`${path}/`)) return `${DEFAULT.path}${called.slice(path.length)}`;
      const beside = called.startsWith(`${folder}/`) ? called.slice(folder.length) : '';
      return beside === DEFAULT.path || beside.startsWith(`${DEFAULT.path}/`) ? '' : beside;
    },
  };
}

export function pathOf(request: Pick<HttpRequest, 'url'>): string {
  const url = request.url!;
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** Finds out where a request comes from, and checks its Host and Origin. */
function createEndpointGuard(options: EndpointOptions): { check(request: UpgradeRequest | HttpRequest): void } {
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

/** Maps each path, as mounted at /mcp, to its handler. */
function createRoutes(context: ServeContext, options: EndpointOptions, mount: Mount) {
  const streamable = new StreamableHttp(context);
  const legacy = new LegacySse(context, streamable);
  const parts = new Map<string, StreamableHttp>();
  const hasProxy = options.publicUrl !== undefined || createFindAddress(options.trustProxy) !== undefined;
  /** One per name, created on first use; unknown names are refused before. */
  const partAt = (path: string): StreamableHttp => {
    const name = path.slice('/mcp/'.length);
    let part = parts.get(name);
    if (!part) parts.set(name, (part = streamable.part({ ...options.part!(name), listens: context.listens }, name)));
    return part;
  };
  const go = (path: string, visit: HttpVisit): void => {
    if (path === '/mcp') streamable.handle(visit);
    else if (path === '/sse') legacy.stream(visit);
    else if (path === '/message') legacy.message(visit);
    else if (options.part && path.startsWith('/mcp/')) partAt(path).handle(visit);
    else if (isPage(path, options)) {
      checkPage(path, visit, hasProxy);
      runPage(context, findPage(options.pages, path)!, visit);
    } else {
      const text = `Not found: this server answers at ${mount.path}\n`;
      visit.response.writeHead(404, { 'content-type': 'text/plain' }).end(text);
    }
  };
  const enter = (path: string, visit: HttpVisit): void => {
    if (visit.request.method === 'GET') endWhenInvalid(context, visit.identity, visit.response);
    if (visit.request.headers[VIA_HEADER] === undefined) go(path, visit);
    else runUnlessLoop(context, visit.request, () => go(path, visit));
  };
  return {
    enter,
    /** Separate from `enter`, because V8 allocates the closure's context for every request. */
    enterLater(path: string, { caller, ...begun }: Arrival): void {
      const arrival = nextArrival();
      const arrived = caller.then((found) =>
        enter(path, { ...begun, arrival, principal: found?.principal, identity: found }),
      );
      arrived.catch((thrown: unknown) => refuse(context, begun, thrown, path));
    },
    *calls(): Iterable<object> {
      for (const one of [legacy, streamable, ...parts.values()]) yield* one.calls();
    },
    sendAway(): void {
      for (const one of [legacy, streamable, ...parts.values()]) one.sendAway();
    },
    close(): void {
      legacy.close();
      for (const one of [streamable, ...parts.values()]) one.close();
    },
  };
}

/** Refuses a request that has passed this gateway before, by its header. While it is handled, the gateways that it has passed are kept. */
function runUnlessLoop(
  { id, limits }: ServeContext,
  { headers }: Pick<HttpRequest, 'headers'>,
  work: () => void,
): void {
  runUnlessVisited(readVia(headers[VIA_HEADER]), { id, maxHops: limits.maxHops }, work);
}

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
  }));
  /** A page that needs no login. */
  const openPage = (request: HttpRequest, local: string): HttpHandler | undefined => {
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

function isPage(path: string, { pages }: EndpointOptions): boolean {
  return findPage(pages, path) !== undefined;
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

/** Without the handshake era there are no sessions to GET or DELETE. */
function allowOf(path: string, { handshake }: ServeContext): string {
  const known = path.startsWith('/mcp/') ? '/mcp' : path;
  if (known === '/mcp' && !handshake) return 'POST';
  return ALLOW[known] ?? 'GET';
}

function refuse(
  context: ServeContext,
  { request, response }: Pick<HttpVisit, 'request' | 'response'>,
  error: unknown,
  path: string,
): void {
  const thrown = toReadable(error);
  const isMethod = thrown instanceof GatewayError && thrown.code === 'HTTP_METHOD';
  if (isMethod) response.setHeader('allow', allowOf(path, context));
  refuseRequest(context, { request, response }, thrown);
}
