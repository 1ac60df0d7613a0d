// Paths that are served to whoever knows the URL, beside MCP: what they carry is proof enough, so nobody is asked who he is.
import type { HttpHandler, HttpRequest } from '../shared/http.ts';

export interface OpenPages {
  readonly pages: Readonly<Record<string, HttpHandler>>;
  servedAt(place: PagesHost): void;
}

/** Where they are served. */
export interface PagesHost {
  /** How others reach it; undefined where nobody can. */
  base(): Promise<string | undefined>;
  /** The principal who sends this request; absent where nobody can tell. */
  identify?: ((request: HttpRequest) => Promise<string | undefined>) | undefined;
}
