// What an HTTP endpoint is made with.
import type { HttpHandler } from '../../../kernel/base/http.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import type { GuardOptions } from '../guard.ts';
import type { Identify } from '../identify.ts';
import type { Login } from '../login.ts';
import type { HttpSessions } from '../session/http-sessions.ts';
import type { TrustProxy } from './client-address.ts';

export interface EndpointOptions extends GuardOptions {
  /** The address the server listens on; decides which Host names are trusted by default. */
  host?: string | undefined;
  /**
   * The path of Streamable HTTP, /mcp by default. The paths `sse`, `message`, `ws` and pages lie beside it, as in
   * /api/mcp and /api/sse.
   */
  path?: string | undefined;
  identify?: Identify | undefined;
  /**
   * Proxies whose `X-Forwarded-For` or `Forwarded` says where clients come from: `true` for every peer, `loopback` for those on this machine, or
   * addresses and networks. Default: none, and a client's address is that of its connection.
   */
  trustProxy?: TrustProxy | undefined;
  /** Returns the context served at /mcp/<name>; throws SERVER_UNKNOWN. */
  part?: ((name: string) => ServeContext) | undefined;
  /** Further pages by path, such as /healthz. */
  pages?: Record<string, HttpHandler> | undefined;
  /** Pages that need no identity: knowing the URL is enough. */
  openPages?: Readonly<Record<string, HttpHandler>> | undefined;
}

/** What the listener adds to the options. */
export interface EndpointSetup extends EndpointOptions {
  /** Made of `auth`; its `identify` is the one of the options. */
  login?: Login | undefined;
  /** Shared with other ports. Default: its own. */
  sessions?: HttpSessions | undefined;
  /** Callers whom `identify` does not know are refused. */
  needsIdentity?: boolean | undefined;
  /** Where the port is open; undefined inside another HTTP server. */
  address?: (() => ListeningAddress | undefined) | undefined;
}

export interface ListeningAddress {
  readonly port: number;
  readonly isTls: boolean;
}
