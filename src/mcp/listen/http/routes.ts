// The paths of an endpoint: which part of it answers a request that has passed its doors.
import { nextArrival } from '../../../kernel/arrival.ts';
import { GatewayError, toReadable } from '../../../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest } from '../../../kernel/base/http.ts';
import type { Nodes } from '../../../kernel/nodes/nodes.ts';
import { VIA_HEADER, readVia, runUnlessVisited } from '../../../kernel/base/via.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import type { Caller } from '../identify.ts';
import { ownerInQuery } from '../elsewhere/owned-elsewhere.ts';
import { HttpSessions } from '../session/http-sessions.ts';
import { createFindAddress } from './client-address.ts';
import type { EndpointOptions, EndpointSetup } from './endpoint-options.ts';
import { LegacySse } from './legacy-sse.ts';
import type { Mount } from './mount.ts';
import { checkPage, findPage } from './page-access.ts';
import { endWhenInvalid, refuseRequest, runPage } from './refusals.ts';
import { StreamableHttp } from './streamable-http.ts';
import { validityOf } from './http-visit.ts';
import type { HttpVisit } from './http-visit.ts';

/** A request whose caller is not identified yet. */
interface Arrival extends Pick<HttpVisit, 'request' | 'response' | 'access'> {
  caller: Promise<Caller>;
}

export const ALLOW: Record<string, string> = { '/mcp': 'GET, POST, DELETE', '/sse': 'GET, POST', '/message': 'POST' };

/** Maps each path, as mounted at /mcp, to its handler. */
export function createRoutes(context: ServeContext, options: EndpointSetup, mount: Mount) {
  const { sessions = new HttpSessions(context) } = options;
  const closeSessions = sessions.serve();
  const streamable = new StreamableHttp(context, sessions);
  const legacy = new LegacySse(context, streamable, sessions);
  const chains = new Chains(streamable, (name) => {
    return new StreamableHttp({ ...options.part!(name), listens: context.listens }, sessions, name);
  });
  const hasProxy = options.publicUrl !== undefined || createFindAddress(options.trustProxy) !== undefined;
  const go = (path: string, visit: HttpVisit): void => {
    if (path === '/mcp') streamable.handle(visit);
    else if (path === '/sse') legacy.stream(visit);
    else if (path === '/message') legacy.message(visit);
    else if (options.part && path.startsWith('/mcp/')) chains.at(path).handle(visit);
    else if (isPage(path, options)) {
      checkPage(path, visit, hasProxy);
      runPage(context, findPage(options.pages, path)!, visit);
    } else {
      const text = `Not found: this server answers at ${mount.path}\n`;
      visit.response.writeHead(404, { 'content-type': 'text/plain' }).end(text);
    }
  };
  const enter = (path: string, visit: HttpVisit): void => {
    if (visit.request.method === 'GET') endWhenInvalid(context, validityOf(visit), visit.response);
    if (visit.request.headers[VIA_HEADER] === undefined) go(path, visit);
    else runUnlessLoop(context, visit.request, () => go(path, visit));
  };
  return {
    ...entrances(context, options, enter),
    *calls(): Iterable<object> {
      yield* sessions.calls();
      yield* chains.calls();
    },
    sendAway: () => sessions.sendAway(),
    close(): void {
      closeSessions();
      chains.close();
    },
  };
}

function entrances(context: ServeContext, options: EndpointOptions, go: (path: string, visit: HttpVisit) => void) {
  const enter = (path: string, visit: HttpVisit): void => {
    const mayPass = path === '/sse' || path === '/message' || isPage(path, options);
    if (context.nodes && mayPass && passOn(context, context.nodes, visit)) return;
    go(path, visit);
  };
  return {
    enter,
    /** A page that needs no login. */
    openPage(page: HttpHandler, visit: HttpVisit): void {
      if (!context.nodes || !passOn(context, context.nodes, visit)) page(visit.request, visit.response);
    },
    /** What another gateway has let in. */
    enterHop(path: string, visit: HttpVisit): void {
      try {
        go(path, visit);
      } catch (thrown) {
        refuseVisit(context, visit, thrown, path);
      }
    },
    /** Separate from `enter`, because V8 allocates the closure's context for every request. */
    enterLater(path: string, { caller, ...begun }: Arrival): void {
      const arrival = nextArrival();
      const arrived = caller.then((found) =>
        enter(path, { ...begun, arrival, principal: found?.principal, identity: found }),
      );
      arrived.catch((thrown: unknown) => refuseVisit(context, begun, thrown, path));
    },
  };
}

/** A page, or a session of HTTP+SSE, that another node has. */
function passOn(context: ServeContext, nodes: Nodes, visit: HttpVisit): boolean {
  if (visit.request.hop) return false;
  const owner = ownerInQuery(nodes, visit.request);
  if (owner === undefined) return false;
  const { principal, identity, access, request, response } = visit;
  if (request.method === 'GET') endWhenInvalid(context, validityOf(visit), response);
  const passed = nodes.forward(owner, { request, response, principal, identity, resource: access?.resource });
  const answered = passed.then(({ kind }) => {
    if (kind === 'cut') response.end();
    else if (kind !== 'answered') throw new GatewayError(kind === 'broken' ? 'OWNER_LOST' : 'NODE_AWAY');
  });
  answered.catch((thrown: unknown) => refuseRequest(context, visit, thrown));
  return true;
}

/** What is served at /mcp, and at /mcp/<name>. */
class Chains {
  readonly #all: Map<string, StreamableHttp>;
  readonly #open: (name: string) => StreamableHttp;

  constructor(whole: StreamableHttp, open: (name: string) => StreamableHttp) {
    this.#all = new Map([['/mcp', whole]]);
    this.#open = open;
  }

  /** Opened by their first requests; unknown names are refused before. */
  at(path: string): StreamableHttp {
    let chain = this.#all.get(path);
    if (!chain) this.#all.set(path, (chain = this.#open(path.slice('/mcp/'.length))));
    return chain;
  }

  *calls(): Iterable<object> {
    for (const chain of this.#all.values()) yield* chain.calls();
  }

  close(): void {
    for (const chain of this.#all.values()) chain.close();
  }
}

/** Refuses a request that has passed this gateway before, by its header. While it is handled, the gateways that it has passed are kept. */
export function runUnlessLoop(
  { id, limits }: ServeContext,
  { headers }: Pick<HttpRequest, 'headers'>,
  work: () => void,
): void {
  runUnlessVisited(readVia(headers[VIA_HEADER]), { id, maxHops: limits.maxHops }, work);
}

export function isPage(path: string, { pages }: EndpointOptions): boolean {
  return findPage(pages, path) !== undefined;
}

/** Without the handshake era there are no sessions to GET or DELETE. */
export function allowOf(path: string, { handshake }: ServeContext): string {
  const known = path.startsWith('/mcp/') ? '/mcp' : path;
  if (known === '/mcp' && !handshake) return 'POST';
  return ALLOW[known] ?? 'GET';
}

export function refuseVisit(
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
