// Checks the Host and Origin headers before a request is parsed. A web page can make a browser send requests to a
// server on this machine under a name that its own DNS points here (DNS rebinding); these headers reveal it.
import { GatewayError } from '../../kernel/base/errors.ts';
import type { HttpRequest } from '../../kernel/base/http.ts';
import { shorten, printableLine } from '../../kernel/base/visible.ts';

export interface GuardOptions {
  /** Host names to accept besides loopback names. Default: any, when bound to more than loopback. */
  allowedHosts?: string[] | undefined;
  /** Origins of web pages that may call, such as https://app.example.com. Default: those of this server alone. */
  allowedOrigins?: string[] | undefined;
  /**
   * The URL at which browsers reach this server, for example through a proxy. Its own pages may call under that name.
   */
  publicUrl?: string | undefined;
}

interface RequestGuard {
  /** Throws NOT_ALLOWED, and INVALID_REQUEST for two Host headers or a target that is not a path. */
  check(request: Pick<HttpRequest, 'headers' | 'rawHeaders' | 'url'>): void;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

export function createGuard(boundHost: string, options: GuardOptions = {}): RequestGuard {
  const loopback = isLoopback(boundHost);
  const hosts = options.allowedHosts && new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(options.allowedOrigins?.map((origin) => origin.toLowerCase()));
  const own = toOwn(options.publicUrl);
  if (own) origins.add(own.origin);

  const hostAllowed = (name: string): boolean => {
    if (isLoopback(name) || name === own?.hostname) return true;
    return hosts ? hosts.has(name) : !loopback;
  };
  /** The Host of the last request; most requests come from the same client. */
  let known: string | undefined;
  // Other ports of this machine are other programs. Where every Host is taken, it proves nothing about the page.
  const isOwn = (origin: string, host: string): boolean =>
    hostOfOrigin(origin) === host && (isLoopback(hostName(host)) || hosts?.has(hostName(host)) === true);

  const isAllowed = (origin: string, host: string): boolean => origins.has(origin) || isOwn(origin, host);

  return {
    check({ headers, rawHeaders, url }) {
      // Whole URLs are sent to proxies, and name a second host.
      if (url !== undefined && !url.startsWith('/'))
        throw new GatewayError('INVALID_REQUEST', { data: 'Name a path as the target of the request, not a URL' });
      if (rawHeaders && hasTwoHosts(rawHeaders))
        throw new GatewayError('INVALID_REQUEST', { data: 'Send one Host header' });
      const { host, origin } = headers;
      if (host === undefined || (host !== known && !hostAllowed(hostName(host))))
        refuse(`the Host ${printableLine(shorten(host ?? 'of this request'))} is not among listen.allowedHosts`);
      known = host;
      if (origin !== undefined && !isAllowed(origin.toLowerCase(), host.toLowerCase()))
        refuse('this Origin is not among allowedOrigins');
    },
  };
}

type LocalRequest = Pick<HttpRequest, 'headers' | 'socket' | 'httpVersion'>;

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * A request through a proxy on this machine is not local: it has another Host, a forwarding header, or comes as HTTP/1.0, as nginx sends it unless
 * configured otherwise.
 */
export function isLocalRequest({ headers, socket, httpVersion }: LocalRequest): boolean {
  const from = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  const forwarding = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'];
  const isDirect = httpVersion !== '1.0' && !forwarding.some((name) => name in headers);
  return isDirect && isLoopback(from) && isLoopback(hostName(headers.host ?? ''));
}

/** Node takes the first one, and a proxy before it perhaps the other. */
function hasTwoHosts(raw: readonly string[]): boolean {
  let found = 0;
  for (let at = 0; at < raw.length; at += 2) if (raw[at]!.length === 4 && raw[at]!.toLowerCase() === 'host') found++;
  return found > 1;
}

function toOwn(publicUrl: string | undefined): URL | undefined {
  if (publicUrl === undefined) return undefined;
  if (/^https?:\/\//i.test(publicUrl) && URL.canParse(publicUrl)) return new URL(publicUrl);
  throw new GatewayError('BAD_OPTION', { option: 'publicUrl', reason: 'no http:// or https:// URL' });
}

function hostName(header: string): string {
  return header.toLowerCase().replace(/:\d+$/, '');
}

/** With its port. Empty for `null` and for anything that is not a URL. */
function hostOfOrigin(origin: string): string {
  return /^https?:\/\/([^/]+)$/.exec(origin)?.[1] ?? '';
}

function refuse(reason: string): never {
  throw new GatewayError('NOT_ALLOWED', { reason });
}
