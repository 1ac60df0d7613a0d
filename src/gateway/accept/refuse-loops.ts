// Refuses requests that have passed this gateway before. While a request is handled, the gateways that its header or
// `_meta` names are kept in an AsyncLocalStorage (shared/via.ts).
import { isObject } from '../../protocol/message.ts';
import type { HttpRequest } from '../../shared/http.ts';
import { VIA_HEADER, arrivedVia, runUnlessVisited, readVia } from '../../shared/via.ts';
import type { ParsedInput } from '../codec/json-rpc.ts';
import type { ServeContext } from '../dialect/serve/serve-context.ts';
import { META } from '../dialect/meta.ts';

/** Empty for nearly every message; then no check is needed. */
export function readMessageVia({ id }: ServeContext, incoming: ParsedInput): readonly string[] {
  if (id === undefined || incoming.kind !== 'message' || !('params' in incoming.message)) return NONE;
  const { params } = incoming.message;
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) && META.via in meta ? readVia(meta[META.via]) : NONE;
}

const NONE: readonly string[] = [];

/** Throws LOOP. `isStarted` says that the message came on stdin. */
export function runUnlessLoop<T>(
  { id, limits }: ServeContext,
  ids: readonly string[],
  work: () => T,
  isStarted = false,
): T {
  return runUnlessVisited([...new Set([...arrivedVia(), ...ids])], { id, maxHops: limits.maxHops, isStarted }, work);
}

/** Whether the header names gateways; hardly any request has it. */
export function isByGateway({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return headers[VIA_HEADER] !== undefined;
}

/** The same for an HTTP request, by its header. */
export function runRequestUnlessLoop(
  { id, limits }: ServeContext,
  { headers }: Pick<HttpRequest, 'headers'>,
  work: () => void,
): void {
  const ids = readVia(headers[VIA_HEADER]);
  if (ids.length === 0) work();
  else runUnlessVisited(ids, { id, maxHops: limits.maxHops }, work);
}
