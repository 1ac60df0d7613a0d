// The endpoint as a function from Request to Response, the form that Hono, Next, Bun, Deno and Workers call.
import type { HttpHandler } from '../../../shared/http.ts';
import { WebRequest } from './web-request.ts';
import { WebResponse } from './web-response.ts';

/**
 * `platform` is what the runtime hands over beside the request: the server of Bun, the connection of Deno. Anything else, such as
 * the context of a Next route or the environment of a Worker, is ignored.
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
    if (isBun(known)) known.timeout?.(request, 0); // it would end a silent call after ten seconds
    if (request.signal.aborted) outgoing.abandon();
    else request.signal.addEventListener('abort', () => outgoing.abandon(), { once: true });
    outgoing.once('close', () => incoming.destroy()); // nobody wants what is left of a body that was too large
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
