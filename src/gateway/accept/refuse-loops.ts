// Refuses requests that have passed this gateway before. While a request is handled, the gateways that its header or
// `_meta` names are kept in an AsyncLocalStorage (shared/via.ts).
import { isObject } from '../../protocol/message.ts';
import type { Message } from '../../protocol/message.ts';
import type { HttpRequest } from '../../shared/http.ts';
import { VIA_HEADER, arrivedVia, runUnlessVisited, readVia } from '../../shared/via.ts';
import type { ServeContext } from '../dialect/serve/serve-context.ts';
import { META } from '../dialect/meta.ts';

/** The gateways that a message with `_meta` names; undefined for nearly every one, and then no check is needed. */
export function readMessageVia({ id }: ServeContext, message: Message): readonly string[] | undefined {
  const meta = 'params' in message ? message.params?._meta : undefined;
  if (id === undefined || !isObject(meta) || !(META.via in meta)) return undefined;
  const ids = readVia(meta[META.via]);
  return ids.length > 0 ? ids : undefined;
}

/** Throws LOOP. `isStarted` says that the message came on stdin. */
export function runUnlessLoop<T>(
  { id, limits }: ServeContext,
  ids: readonly string[],
  work: () => T,
  isStarted = false,
): T {
  return runUnlessVisited([...new Set([...arrivedVia(), ...ids])], { id, maxHops: limits.maxHops, isStarted }, work);
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
