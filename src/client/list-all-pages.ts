// Fetches all pages of a list. Drops unusable entries with a warning; a malformed page and a list without an end are errors.
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';
import type { OutgoingCall, ServerView } from '../protocol/server-view.ts';
import { pages } from '../protocol/pages.ts';
import { GatewayError, ProtocolError } from '../shared/errors.ts';
import type { Log } from '../shared/log.ts';
import type { ClientCallOptions } from './types.ts';

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
  const { key, method } = listing;
  const entries: T[] = [];
  const fetch = (params: JsonObject) => onePage(source, listing, params, options);
  const onCutOff = (why: 'circle' | 'limit'): void => {
    if (why === 'limit') throw invalid(source, `${method} does not end`);
    source.log.warn({ server: source.server.info.name, method }, 'upstream.pages-in-a-circle');
  };
  for await (const page of pages({ key, fetch, onCutOff })) entries.push(...usable<T>(page, source, listing));
  return entries;
}

async function onePage(
  source: ListSource,
  { method, key, declared }: ListRequest,
  params: JsonObject,
  options: ClientCallOptions,
): Promise<JsonObject> {
  try {
    const page = await source.call({ ...options, method, params: 'cursor' in params ? params : undefined });
    if (typeof (page.nextCursor ?? '') === 'string') return page;
    throw invalid(source, `nextCursor of ${method} must be a string`);
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

function invalid({ server }: ListSource, reason: string): GatewayError {
  return new GatewayError('UPSTREAM_INVALID', { server: server.info.name, reason });
}
