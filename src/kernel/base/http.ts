// What our HTTP handlers need of a request and its response. Node's own types satisfy both; other servers are adapted. Also
// where a request comes from, and which languages it wants.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Identity } from '../net/identity.ts';

export interface HttpRequest extends Readable {
  readonly method?: string | undefined;
  /** The path with its query. */
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns, as they came; of Node alone. */
  readonly rawHeaders?: readonly string[] | undefined;
  readonly httpVersion?: string | undefined;
  /** The body was already read in another way. */
  readonly bodyUsed?: boolean | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
  /** The address of the client, if the peer is a trusted proxy. */
  clientAddress?: string | undefined;
  /** Another gateway has let it in and forwarded it. */
  hop?: Hop | undefined;
}

/** Who is behind a request that another gateway has let in. */
export interface Hop {
  readonly principal?: string | undefined;
  readonly identity?: Identity | undefined;
  /** The URL that was called, as tokens name it. */
  readonly resource?: string | undefined;
}

export interface HttpResponse extends Writable {
  readonly headersSent: boolean;
  /** Several values are several headers. */
  setHeader(name: string, value: string | readonly string[]): unknown;
  removeHeader(name: string): void;
  writeHead(status: number, headers?: Record<string, string | number>): this;
  flushHeaders(): void;
}

export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;

/** Where a request comes from, as far as that can be believed. */
export function addressOf(request: Pick<HttpRequest, 'clientAddress' | 'socket'>): string | undefined {
  return request.clientAddress ?? request.socket.remoteAddress;
}

/** Longer than an Accept-Language header of any browser. */
const MAX_CHARS = 500;

/** The languages of an Accept-Language header in order of preference, as written, without unwanted ones (q=0). */
export function languagesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  return text
    .slice(0, MAX_CHARS)
    .split(',')
    .map(toPreference)
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}

function toPreference(range: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = range.split(';');
  const weight = parameters.map((one) => /^\s*q=(.+?)\s*$/i.exec(one)?.[1]).find((one) => one !== undefined);
  return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) || 0 };
}

/**
 * What a page for a person says to browsers, whatever it shows: nobody may keep it, frame it, index it or read it from another origin. Not `no-referrer`, because then a browser sends our own form without an origin, which we refuse. Other sites get no
 * referrer either way.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
