// Who calls, as a login has found out.
import type { JsonObject } from '../message.ts';

/** Who calls, as the login found out. Nothing that a client says about itself counts. */
export interface Identity {
  /** Owns sessions, parked calls, questions, flows, tasks, caches and counters. It stays when a token is renewed. */
  readonly principal: string;
  /** Facts about the caller for steps and tools, such as the claims of a token. */
  readonly claims?: JsonObject | undefined;
  /** Who vouches for the caller, such as https://login.example.com, and how it names them. */
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  /** What the key or token allows. */
  readonly scopes?: readonly string[] | undefined;
  /** The name of the API key. */
  readonly key?: string | undefined;
  /** The headers of the request that `auth.headers` names, in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long the key or token is valid; absent if for as long as the connection. */
  readonly validity?: Validity | undefined;
}

/** Ends streams and connections whose key was removed or whose token expired. */
export interface Validity {
  /** Calls `end` once. Returns a function that forgets it. */
  watch(end: () => void): () => void;
}
