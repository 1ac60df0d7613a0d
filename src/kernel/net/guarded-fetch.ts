// A `fetch` for URLs that a stranger has named: metadata of logins, token endpoints, keys, documents. It never reaches into this
// machine or its network unless told so. Invariants:
// 1. A name is resolved once; every address it has is checked, and the connection goes to one of those. A second answer of the
//    DNS cannot lead elsewhere.
// 2. Only GET follows redirects, and each hop is checked like the first. A POST carries secrets, so its redirect is an error.
// 3. The response is read whole, within a limit of bytes and of time.
// 4. No error names more than the origin of the URL: a path or query may hold a secret.
import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, fetch as undiciFetch } from 'undici';
import { addressKind, isLoopbackHost } from './address-kind.ts';

interface GuardedFetchOptions {
  /** Addresses of this machine are allowed, also without TLS. */
  loopback?: boolean | undefined;
  /** Hosts that may be private addresses, as in `sso.corp.example` or `10.1.2.3`; TLS is still needed. */
  hosts?: readonly string[] | undefined;
  maxBytes?: number | undefined;
  timeoutMs?: number | undefined;
  /** All addresses of a name; tests pass their own. */
  resolve?: ((hostname: string) => Promise<readonly LookupAddress[]>) | undefined;
}

export type GuardedFetch = (url: string | URL, init?: GuardedRequest) => Promise<Response>;

interface GuardedRequest {
  method?: string | undefined;
  headers?: Record<string, string> | Headers | undefined;
  body?: string | URLSearchParams | null | undefined;
  signal?: AbortSignal | null | undefined;
}

/** The URL or its response was refused here; nothing was sent to an address that is not allowed. */
export class UnsafeUrlError extends Error {
  constructor(origin: string, reason: string) {
    super(`${origin} was not used: ${reason}`);
    this.name = 'UnsafeUrlError';
  }
}

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 15_000;
const MAX_REDIRECTS = 3;

export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS } = options;
  // Connections are not kept: each request resolves and checks its host.
  const agent = new Agent({ connect: { lookup: guardedLookup(options) }, pipelining: 0, keepAliveTimeout: 1 });
  return async (given, init = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([timeout, init.signal]) : timeout;
    const method = (init.method ?? 'GET').toUpperCase();
    let url = checkUrl(new URL(given), options);
    for (let hops = 0; ; hops++) {
      const response = await undiciFetch(url, {
        ...(method !== 'GET' && { method, body: init.body ?? null }),
        headers: Object.fromEntries(new Headers(init.headers)),
        redirect: 'manual',
        dispatcher: agent,
        signal,
      }).catch((thrown: unknown) => {
        throw toFetchError(thrown, url, timeout);
      });
      const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
      if (next === null) return readWhole(response, url, maxBytes);
      await response.body?.cancel();
      if (method !== 'GET') throw new UnsafeUrlError(url.origin, 'it redirects a request that carries secrets');
      if (hops === MAX_REDIRECTS) throw new UnsafeUrlError(url.origin, `it redirects more than ${MAX_REDIRECTS} times`);
      url = checkUrl(new URL(next, url), options);
    }
  };
}

/** What can be told from the URL alone; throws. */
function checkUrl(url: URL, options: GuardedFetchOptions): URL {
  const { protocol, hostname, username, password, origin } = url;
  const isLocal = options.loopback === true && isLoopbackHost(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) {
    throw new UnsafeUrlError(protocol === 'http:' ? origin : protocol, 'https is needed');
  }
  if (username !== '' || password !== '') throw new UnsafeUrlError(origin, 'it contains a user name or a password');
  // A literal address is never looked up, so it is checked here.
  const kind = addressKind(hostname);
  if (kind !== undefined) checkAddress(hostname, kind, { hostname, options });
  return url;
}

interface Wanted {
  hostname: string;
  options: GuardedFetchOptions;
}

function checkAddress(address: string, kind: ReturnType<typeof addressKind>, { hostname, options }: Wanted): void {
  if (kind === 'public') return;
  // A name that merely resolves to this machine is not enough: it must say so.
  if (kind === 'loopback' && options.loopback === true && isLoopbackHost(hostname)) return;
  if (kind === 'private' && options.hosts?.includes(hostname.replace(/^\[|\]$/g, '')) === true) return;
  throw new UnsafeUrlError(hostname, `${address} is a ${kind ?? 'malformed'} address`);
}

/** Resolves, checks every address, and gives the checked ones to the socket. */
function guardedLookup(options: GuardedFetchOptions): LookupFunction {
  return (hostname, { all, family }, tell) => {
    resolveChecked(hostname, Number(family ?? 0), options).then(
      ([first, ...others]) => {
        if (all === true) tell(null, [first, ...others]);
        else tell(null, first.address, first.family);
      },
      (error: Error) => tell(error, '', 0),
    );
  };
}

async function resolveChecked(
  hostname: string,
  family: number,
  options: GuardedFetchOptions,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const { resolve = resolveAll } = options;
  const found = await resolve(hostname);
  for (const { address } of found) checkAddress(address, addressKind(address), { hostname, options });
  const [first, ...others] = found.filter((one) => family === 0 || one.family === family);
  if (first === undefined) throw new Error(`${hostname} has no address`);
  return [first, ...others];
}

function resolveAll(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, found) => (error ? reject(error) : resolve(found)));
  });
}

async function readWhole(
  response: Awaited<ReturnType<typeof undiciFetch>>,
  url: URL,
  maxBytes: number,
): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new UnsafeUrlError(url.origin, `its answer is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw thrown instanceof UnsafeUrlError ? thrown : new Error(`${url.origin} did not send its whole answer`);
  }
  const { status, headers } = response;
  const isEmpty = [101, 204, 205, 304].includes(status);
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers: Object.fromEntries(headers) });
}

/** undici hides the reason in the cause. */
function toFetchError(thrown: unknown, { origin }: URL, timeout: AbortSignal): Error {
  for (let error = thrown; error instanceof Error; error = error.cause)
    if (error instanceof UnsafeUrlError) return error;
  if (timeout.aborted) return new Error(`${origin} did not answer in time`);
  const { cause } = thrown as Error;
  const reason = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(thrown);
  return new Error(`${origin} cannot be reached: ${reason}`);
}
