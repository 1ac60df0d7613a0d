// Paths that are served to whoever knows the URL, beside MCP: what they carry is proof enough, so nobody is asked who he is.
import type { HttpHandler } from '../shared/http.ts';

export interface OpenPages {
  readonly pages: Readonly<Record<string, HttpHandler>>;
  /** Told how others reach the port they are served on; undefined where nobody can. */
  servedAt(base: () => Promise<string | undefined>): void;
}
