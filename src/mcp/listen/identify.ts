// Identifies callers with the program's `identify` hook, or with the one that `auth` makes (auth/). Nothing that a client says about
// itself counts.
import type { IncomingHttpHeaders } from 'node:http';
import type { Identity, UpgradedTransport } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import { LOCAL, isAnonymous } from '../../kernel/base/anonymous.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { addressOf } from '../../kernel/base/http.ts';
import { networkOf } from '../../kernel/net/network.ts';
import type { HttpRequest } from '../../kernel/base/http.ts';

/** What is known of a request before it is read. */
export interface IdentifyRequest {
  readonly headers: IncomingHttpHeaders;
  readonly transport: 'http' | UpgradedTransport;
  readonly method?: string | undefined;
  /** The path with its query. */
  readonly url?: string | undefined;
  readonly remoteAddress?: string | undefined;
  /** The URL of the endpoint that is called, as a token names it in `aud`; undefined if unknown. */
  readonly resource?: string | undefined;
  /** The URL of the whole endpoint, at /mcp. */
  readonly endpoint?: string | undefined;
  /** It is for a page of operators, whose scope is checked there. */
  readonly isAdmin?: boolean | undefined;
}

type Answer = string | Identity | false | null | undefined;

/**
 * Returns a name, or a name with claims. An unknown caller (`undefined`, as a map returns it, or `false`) is refused with 401; `null` lets the caller in without a
 * name, on loopback only. May be asynchronous.
 */
export type Identify = (request: IdentifyRequest) => Answer | Promise<Answer>;

/** Undefined if unknown. */
export type Caller = Identity | undefined;

/** Where a caller has come to. */
export type IdentifyPlace = Pick<IdentifyRequest, 'transport' | 'resource' | 'endpoint' | 'isAdmin'>;

/** Null: let in without a name. Undefined: unknown. Synchronous unless `identify` is not. Throws what `identify` throws. */
export function identifyCaller(
  identify: Identify,
  request: HttpRequest,
  { transport, resource, endpoint, isAdmin }: IdentifyPlace,
): Caller | null | Promise<Caller | null> {
  const { headers, method, url } = request;
  const remoteAddress = request.clientAddress ?? request.socket?.remoteAddress;
  const found = identify({ headers, transport, method, url, remoteAddress, resource, endpoint, isAdmin });
  return found instanceof Promise ? found.then(toCaller) : toCaller(found);
}

function toCaller(found: Answer): Caller | null {
  if (found === undefined || found === null) return found;
  if (found === false) throw new GatewayError('UNAUTHORIZED', { reason: 'the server does not know this caller' });
  if (typeof found === 'string') return { principal: toUserName(found) };
  if (isObject(found) && typeof found.principal === 'string') {
    const principal = toUserName(found.principal);
    return principal === found.principal ? found : { ...found, principal };
  }
  throw new GatewayError('BAD_OPTION', {
    option: 'identify',
    reason: 'it must return a string, { principal, claims }, undefined, false or null',
  });
}

const USER = 'user:';

/** A user whose name the gateway uses itself, such as `local`, gets a prefix. */
function toUserName(name: string): string {
  return name === LOCAL || isAnonymous(name) || name.startsWith(USER) ? USER + name : name;
}

/**
 * The caller that a limit counts: the principal where callers are identified, else the network address. Behind a proxy that is not in
 * `trustProxy` all callers share one address.
 */
export function callerOf({ principal, request }: { principal: string | undefined; request: HttpRequest }): string {
  if (principal !== undefined) return `principal:${principal}`;
  return `address:${networkOf(addressOf(request) ?? '')}`;
}
