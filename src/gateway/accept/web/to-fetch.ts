// Turns the endpoint into a function from Request to Response, as Hono, Next, Bun, Deno and Workers call it.
import type { HttpHandler } from '../../../shared/http.ts';
import { WebRequest } from './web-request.ts';
import { WebResponse } from './web-response.ts';

/**
 * `platform` is the runtime's second argument: Bun's server or Deno's connection. Anything else, such as the context of
 * a Next route or the environment of a Worker, is ignored.
 */
export type Fetch = (request: Request, platform?: unknown) => Promise<Response>;

interface Platform {
  /** Bun */
  requestIP?(request: Request): { address: string } | null;
  timeout?(request: Request, seconds: number): void;
  /** Deno */
  remoteAddr?: { hostname?: string };
}

export function toFetch(handle: HttpHandler): Fetch {
  return (request, platform) => {
    const known = (platform ?? {}) as Platform;
    const outgoing = new WebResponse();
    const incoming = new WebRequest(request, addressOf(request, known));
    if (isBun(known)) known.timeout?.(request, 0); // Bun ends a silent call after ten seconds by default
    if (request.signal.aborted) outgoing.abandon();
    else request.signal.addEventListener('abort', () => outgoing.abandon(), { once: true });
    outgoing.once('close', () => incoming.destroy()); // drop the rest of a body that is too large
    handle(incoming, outgoing);
    return outgoing.response;
  };
}

function addressOf(request: Request, platform: Platform): string | undefined {
  if (isBun(platform)) return platform.requestIP!(request)?.address;
  const address = platform.remoteAddr?.hostname;
  return typeof address === 'string' ? address : undefined;
}

function isBun(platform: Platform): boolean {
  return typeof platform.requestIP === 'function' && typeof platform.timeout === 'function';
}
