// Paths served beside MCP to anyone who knows the URL. The URL itself proves the right to use them, so no identity is
// required.
import type { HttpHandler, HttpRequest } from '../shared/http.ts';

export interface OpenPages {
  readonly pages: Readonly<Record<string, HttpHandler>>;
  servedAt(place: PagesHost): void;
}

/** The server of these pages. */
export interface PagesHost {
  /** The public URL; undefined if it is not reachable. */
  base(): Promise<string | undefined>;
  /** The principal of this request; absent if callers are not identified. */
  identify?: ((request: HttpRequest) => Promise<string | undefined>) | undefined;
}
