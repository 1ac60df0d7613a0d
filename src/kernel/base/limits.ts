// Every limit on what a peer can make grow, with its default. Exceeding one affects only that message, call or
// connection.
export interface Limits {
  /** The largest message from a client, in bytes. */
  maxRequestBytes: number;
  /** The largest form with files that a person sends from the page, in bytes. */
  maxUploadBytes: number;
  /** The largest message from a server, in bytes. */
  maxResultBytes: number;
  /** The deepest nesting of a message. */
  maxDepth: number;
  /** Members and items of a message, in all: each costs far more memory than its text. */
  maxValues: number;
  /** Requests in flight per connection or session, and questions of a server that are open on a connection. */
  maxInFlight: number;
  /** Unsent bytes for a slow reader before its stream or connection is closed. */
  maxBufferedBytes: number;
  /**
   * Bytes that the process holds for all its peers together: bodies that arrive, what waits for slow readers, kept events. The one who
   * holds most is cut off first.
   */
  maxHeldBytes: number;
  /** Messages that wait for a client without an open stream. */
  maxQueued: number;
  /** Open HTTP sessions in total and per caller (principal, else network address), and how long one may be idle. */
  maxSessions: number;
  maxSessionsPerCaller: number;
  sessionIdleMs: number;
  /** Open connections of one port, and open listen streams. */
  maxConnections: number;
  maxListens: number;
  /** Resources and tasks that one client may subscribe to. */
  maxSubscriptions: number;
  /** Calls per principal that wait for the user's answer, and for how long. */
  maxParked: number;
  parkedMs: number;
  /** Rounds of questions within one call to a stateless client; official clients stop after eight to ten. */
  maxRounds: number;
  /** The longest question to a person; what is longer cannot be read, so it cannot be approved. */
  maxShownChars: number;
  /** How long a code of `parley pair` works, and after how many wrong ones a caller has to wait. */
  pairCodeMs: number;
  maxPairTries: number;
  /**
   * Concurrent calls of one principal that may ask, on one server, each on its own connection; later calls wait. A call
   * with an open question does not count.
   */
  maxPool: number;
  /** Gateways that a request may have passed before this one. */
  maxHops: number;
  /**
   * Concurrent processes of one server, and how long an unused one stays if it serves a single client or only lists.
   */
  maxProcesses: number;
  ownIdleMs: number;
  /** How long a server process may take to answer a ping after a call timed out in silence. */
  pingMs: number;
  /** Events kept for resumption, per session: count and bytes. */
  maxEvents: number;
  maxEventBytes: number;
  /** Tasks kept per principal, and the longest time. */
  maxTasks: number;
  taskTtlMs: number;
  /** How long a long poll waits, how often an idle stream sends a keep-alive, and how often a WebSocket is pinged. */
  pollMs: number;
  keepAliveMs: number;
  /** How long the answer to a POST may stay silent before it becomes a resumable stream. */
  primeMs: number;
  /** How long a call to a server may take in all, however much progress it reports. */
  maxCallMs: number;
  /** How long a gateway that was told to stop (SIGTERM) finishes calls, before those that are left end with an error. */
  drainMs: number;
  /** The audit log: the size of one file, and of all files of this user in bytes and number. The oldest files are removed. */
  maxAuditFileBytes: number;
  maxAuditBytes: number;
  maxAuditFiles: number;
}

const MiB = 1024 * 1024;
const MINUTE = 60_000;

export const DEFAULT_LIMITS: Limits = {
  maxRequestBytes: 4 * MiB,
  maxUploadBytes: 16 * MiB,
  maxResultBytes: 64 * MiB,
  maxDepth: 512,
  maxValues: 1_000_000,
  maxInFlight: 1024,
  maxBufferedBytes: 64 * MiB,
  maxHeldBytes: 192 * MiB,
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
  maxShownChars: 65_536,
  pairCodeMs: 10 * MINUTE,
  maxPairTries: 5,
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
  maxCallMs: 30 * MINUTE,
  drainMs: 20_000,
  maxAuditFileBytes: 16 * MiB,
  maxAuditBytes: 256 * MiB,
  maxAuditFiles: 1000,
};

/** The largest file that a configuration may name with ${file:…}, the largest configuration, env file or source of a step, and the most sources. */
export const MAX_SECRET_FILE_BYTES: number = 64 * 1024;
export const MAX_CONFIG_FILE_BYTES: number = 64 * MiB;
export const MAX_STEP_FILES = 1000;

/** How many tokens of logins are kept out of messages at a time. */
export const MAX_PASSING_SECRETS = 200;

/** How long a server that says when to come back is left alone at most; then it is tried again. */
export const MAX_PAUSE_MS: number = 5 * MINUTE;

/** The arguments of a call that a person may be asked about, whatever `maxShownChars` says. */
export const MAX_SHOWN_CHARS: number = 256 * 1024;

/** Entries of one page of a list; resources, which are not pinned, cost less. */
export const MAX_PAGE_ENTRIES = 5000;
export const MAX_PAGE_RESOURCES = 10_000;

/** Definitions that are pinned of one server, how long one may be to be shown by `parley pins diff`, and how large the file becomes with them. */
export const MAX_PINS = 10_000;
export const MAX_PINNED_CHARS: number = 64 * 1024;
export const MAX_PIN_FILE_BYTES: number = 8 * MiB;

/** The last lists of one server that outlive the process: how many, of its users, and how large their file becomes. */
export const MAX_LISTS_KEPT = 100;
export const MAX_LIST_FILE_BYTES: number = 8 * MiB;

/** Lines of a server that answer no call: with more of them it is read slowly, so that others do not wait. */
export const FLOOD_LINES = { burst: 500, perSecond: 2000 };

/** Lines in the log about messages of one connection that make no sense. */
export const LOGGED_GARBAGE = '30/min';

/** Of one network address: unknown tokens that prove bad. */
export const LOGIN_TRIES = '60/min';

/** Clients that register at the authorization server in front: of one network address, of the network around it, and in all. */
export const REGISTRATIONS = { address: '20/h', network: '100/h', all: '1000/h' };

/** Logins at the authorization server in front that are begun and not finished, and how long what a client asks for there may be. */
export const MAX_OPEN_VISITS = { perAddress: 100, all: 2000 };
export const MAX_VISIT_CHARS = 8 * 1024;
export const MAX_VISIT_PARAMETER_CHARS = 2048;

/** Logins at pages that were ended early; their cookies no longer count. */
export const MAX_LOGGED_OUT = 10_000;

/** For how long a gateway takes answers to the questions of a server, at most, if the server says how long it does. */
export const MAX_STATE_MS = 30 * 24 * 3_600_000;

/** How long the result of a called flow is kept after it was sent: a client that reads it later may lose it in a crash. */
export const RESULT_READ_MS = 30_000;

const LEAST_ENDLESS_BYTES = 16 * 1024 * 1024;

/** When a line or an event that is too long, and so skipped, is taken for one without an end. Reading it costs processor time for ever. */
export function endlessBytes(maxBytes: number): number {
  return Math.max(4 * maxBytes, LEAST_ENDLESS_BYTES);
}
