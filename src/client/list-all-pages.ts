// Fetches all pages of a list, up to a limit, as a cursor may lead in a circle or go on without end. Drops unusable entries with a warning;
// a malformed page is an error.
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';
import type { OutgoingCall, ServerView } from '../protocol/server-view.ts';
import { GatewayError, ProtocolError } from '../shared/errors.ts';
import type { Log } from '../shared/log.ts';
import type { ClientCallOptions } from './types.ts';

const MAX_PAGES = 1000;
const METHOD_NOT_FOUND = -32601;

export interface ListRequest {
  method: string;
  key: string;
  /** Whether the server declares the area. One that does not, and lacks the method, has an empty list. */
  declared: boolean;
  isEntry: (entry: JsonObject) => boolean;
}

export interface ListSource {
  server: ServerView;
  log: Log;
  call(call: OutgoingCall): Promise<JsonObject>;
}

export async function listAllPages<T>(
  source: ListSource,
  listing: ListRequest,
  options: ClientCallOptions = {},
): Promise<T[]> {
  const entries: T[] = [];
  const cursors = new Set<string>();
  const pages = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await onePage(source, listing, cursor, options);
    // To many servers an empty cursor means the end, and asking with it repeats a page.
    if (cursor === '' && pages.has(JSON.stringify(page[listing.key]))) return entries;
    entries.push(...usable<T>(page, source, listing));
    pages.add(JSON.stringify(page[listing.key]));
    cursor = nextCursor(page, source, listing);
    if (cursor === undefined || isKnown(cursor, cursors, source, listing)) return entries;
    cursors.add(cursor);
  } while (cursors.size < MAX_PAGES);
  throw invalid(source, `${listing.method} does not end: ${MAX_PAGES} pages`);
}

async function onePage(
  source: ListSource,
  { method, key, declared }: ListRequest,
  cursor: string | undefined,
  options: ClientCallOptions,
): Promise<JsonObject> {
  try {
    return await source.call({ ...options, method, params: cursor === undefined ? undefined : { cursor } });
  } catch (thrown) {
    if (!declared && isUnknownMethod(thrown)) return { [key]: [] };
    throw thrown;
  }
}

function isUnknownMethod(thrown: unknown): boolean {
  if (thrown instanceof ProtocolError) return thrown.code === METHOD_NOT_FOUND;
  return thrown instanceof GatewayError && thrown.code === 'NOT_SUPPORTED';
}

function usable<T>(page: JsonObject, source: ListSource, { method, key, isEntry }: ListRequest): T[] {
  const list = page[key];
  if (!Array.isArray(list)) throw invalid(source, `${method} answered without an array of ${key}`);
  const entries = list.filter((entry) => isObject(entry) && isEntry(entry));
  const dropped = list.length - entries.length;
  if (dropped > 0) source.log.warn({ server: source.server.info.name, method, dropped }, 'upstream.entries-dropped');
  return entries as T[];
}

function nextCursor({ nextCursor }: JsonObject, source: ListSource, { method }: ListRequest): string | undefined {
  if (nextCursor === undefined || nextCursor === null) return undefined;
  if (typeof nextCursor === 'string') return nextCursor;
  throw invalid(source, `nextCursor of ${method} must be a string`);
}

function isKnown(cursor: string, seen: Set<string>, { log, server }: ListSource, { method }: ListRequest): boolean {
  const known = seen.has(cursor);
  if (known) log.warn({ server: server.info.name, method }, 'upstream.pages-in-a-circle');
  return known;
}

function invalid({ server }: ListSource, reason: string): GatewayError {
  return new GatewayError('UPSTREAM_INVALID', { server: server.info.name, reason });
}
