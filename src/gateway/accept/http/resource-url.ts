// The URLs of an endpoint as clients write them and as tokens name them in `aud` (RFC 8707), and the URLs of their metadata (RFC 9728).
// They come from `publicUrl`, or from the port that is open. The Host header decides only which loopback name is used: a caller must
// not choose for which server a token counts.
import { isLoopback } from '../guard.ts';
import type { HttpRequest } from '../../../shared/http.ts';
import type { Mount } from './http-endpoint.ts';

export interface ListeningAddress {
  readonly port: number;
  readonly isTls: boolean;
}

export interface ResourceUrls {
  /** The URL of a path, as it would be at /mcp. Undefined if the own address is unknown. */
  of(request: Pick<HttpRequest, 'headers'>, local: string): string | undefined;
}

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

export interface ResourceUrlOptions {
  publicUrl?: string | undefined;
  mount: Mount;
  /** Undefined if another HTTP server hosts the endpoint. */
  address: () => ListeningAddress | undefined;
}

export function createResourceUrls({ publicUrl, mount, address }: ResourceUrlOptions): ResourceUrls {
  const cut = mount.path.lastIndexOf('/');
  const [folder, name] = [mount.path.slice(0, cut), mount.path.slice(cut)];
  const base = publicUrl?.replace(/\/+$/, '');
  const own = ({ headers }: Pick<HttpRequest, 'headers'>): string | undefined => {
    const at = address();
    const host = headers.host?.toLowerCase().replace(/:\d+$/, '') ?? '';
    if (!at || !isLoopback(host)) return undefined;
    return `${at.isTls ? 'https' : 'http'}://${host}:${at.port}${folder}`;
  };
  return {
    of(request, local) {
      const start = base ?? own(request);
      if (start === undefined) return undefined;
      if (local === '/mcp' || local.startsWith('/mcp/')) return `${start}${name}${local.slice('/mcp'.length)}`;
      return start + (local === '/message' ? '/sse' : local);
    },
  };
}

/** Where the metadata of a resource is: the well-known path stands before its own path. */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${METADATA_PATH}${pathname}`;
}
