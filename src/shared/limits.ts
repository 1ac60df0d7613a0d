// Every limit on what a peer can make grow, in one place, with its default. Hitting one costs that message, call or
// connection alone.
export interface Limits {
  /** Largest message taken from a client, in bytes. */
  maxRequestBytes: number;
  /** Largest message taken from a server, in bytes. */
  maxResultBytes: number;
  /** Deepest nesting of a message. */
  maxDepth: number;
  /** Requests in flight per connection or session, and questions of a server that are open on a connection. */
  maxInFlight: number;
  /** Bytes waiting for a slow reader before its stream or connection is given up. */
  maxBufferedBytes: number;
  /** Messages waiting for a client that holds no stream open. */
  maxQueued: number;
  /** HTTP sessions at once, of all and of one caller (principal, else network address), and how long one may be idle. */
  maxSessions: number;
  maxSessionsPerCaller: number;
  sessionIdleMs: number;
  /** Connections of one port, and open listen streams, at once. */
  maxConnections: number;
  maxListens: number;
  /** Resources and tasks one client wants to be told of. */
  maxSubscriptions: number;
  /** Calls waiting for an answer of the user, per principal, and for how long. */
  maxParked: number;
  parkedMs: number;
  /** Rounds of questions that a stateless client takes part in within one call; official ones stop after eight to ten. */
  maxRounds: number;
  /** Calls of one principal that may ask, at work at once on one server, each on a connection of its own; later calls wait. A call whose question is open does not count. */
  maxPool: number;
  /** Gateways that a request may pass before it reaches this one. */
  maxHops: number;
  /** Processes of one server at once, and how long one that serves a single client, or nothing but lists, stays unused. */
  maxProcesses: number;
  ownIdleMs: number;
  /** How long a server process may take to answer a ping, after a call timed out during which it said nothing. */
  pingMs: number;
  /** Events kept for resumption, per session: count and bytes. */
  maxEvents: number;
  maxEventBytes: number;
  /** Tasks kept per principal, and for how long at most. */
  maxTasks: number;
  taskTtlMs: number;
  /** How long a long-poll waits, how often an idle stream says that it lives, and a WebSocket is asked whether it does. */
  pollMs: number;
  keepAliveMs: number;
  /** How long the answer to a POST may be silent before it becomes a stream that the client can resume. */
  primeMs: number;
}

const MiB = 1024 * 1024;
const MINUTE = 60_000;

export const DEFAULT_LIMITS: Limits = {
  maxRequestBytes: 16 * MiB,
  maxResultBytes: 64 * MiB,
  maxDepth: 512,
  maxInFlight: 1024,
  maxBufferedBytes: 64 * MiB,
  maxQueued: 1000,
  maxSessions: 10_000,
  maxSessionsPerCaller: 1000,
  sessionIdleMs: 30 * MINUTE,
  maxConnections: 10_000,
  maxListens: 1024,
  maxSubscriptions: 10_000,
  maxParked: 256,
  parkedMs: 10 * MINUTE,
  maxRounds: 8,
  maxPool: 8,
  maxHops: 8,
  maxProcesses: 32,
  ownIdleMs: MINUTE,
  pingMs: 10_000,
  maxEvents: 1000,
  maxEventBytes: 16 * MiB,
  maxTasks: 1000,
  taskTtlMs: 60 * MINUTE,
  pollMs: 25_000,
  keepAliveMs: 15_000,
  primeMs: 100,
};
