// Identifies callers with the embedding program's `identify` hook. Nothing that a client says about itself counts.
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { HttpRequest } from '../../shared/http.ts';

/** What is known of a request before it is read. */
export interface IdentifyRequest {
  readonly headers: IncomingHttpHeaders;
  readonly transport: 'http' | 'websocket';
  readonly method?: string | undefined;
  /** The path with its query. */
  readonly url?: string | undefined;
  readonly remoteAddress?: string | undefined;
}

export interface Identity {
  /** Owns sessions, parked calls, caches and counters. */
  readonly principal: string;
  /** Facts about the caller for steps and tools, such as the claims of a token. */
  readonly claims?: JsonObject | undefined;
}

type Answer = string | Identity | undefined;

/** Returns a name, a name with claims, or undefined for an unknown caller. May be asynchronous. */
export type Identify = (request: IdentifyRequest) => Answer | Promise<Answer>;

/** Synchronous unless `identify` is not. Throws what `identify` throws. */
export function identifyCaller(
  identify: Identify | undefined,
  request: HttpRequest,
  transport: 'http' | 'websocket',
): Partial<Identity> | Promise<Partial<Identity>> {
  if (!identify) return NOBODY;
  const { headers, method, url } = request;
  const found = identify({ headers, transport, method, url, remoteAddress: request.socket?.remoteAddress });
  return found instanceof Promise ? found.then(toIdentity) : toIdentity(found);
}

const NOBODY: Partial<Identity> = {};

function toIdentity(found: Answer): Partial<Identity> {
  if (found === undefined) return NOBODY;
  if (typeof found === 'string') return { principal: found };
  if (isObject(found) && typeof found.principal === 'string') return found;
  throw new GatewayError('BAD_OPTION', {
    option: 'identify',
    reason: 'it must return a string, { principal, claims } or undefined',
  });
}
