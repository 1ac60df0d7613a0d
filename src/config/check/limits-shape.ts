// The limits of shared/limits.ts as keys of a configuration.
import { DEFAULT_LIMITS } from '../../shared/limits.ts';
import type { Limits } from '../../shared/limits.ts';
import { integer, object } from './shape.ts';
import type { TypedShape } from './shape.ts';

/** The longest delay of a timer. */
export const MAX_MS = 2 ** 31 - 1;

const ABOUT: Record<keyof Limits, string> = {
  maxRequestBytes: 'Largest message accepted from a client, in bytes',
  maxUploadBytes: 'Largest form with files accepted from a person on the page, in bytes',
  maxResultBytes: 'Largest message accepted from a server, in bytes',
  maxDepth: 'Deepest nesting of a message',
  maxValues: 'Members and items of a message, in all',
  maxInFlight: 'Requests in flight per connection or session, and questions of a server per connection',
  maxBufferedBytes: 'Bytes waiting for a slow reader before it is given up',
  maxHeldBytes:
    'Bytes held for all peers together: bodies that arrive, what waits for slow readers, kept events. The peer that holds most is cut off first',
  maxQueued: 'Messages waiting for a client without an open stream',
  maxSessions: 'HTTP sessions at once',
  maxSessionsPerCaller: 'HTTP sessions of one caller at once: of one principal, else of one network address',
  sessionIdleMs: 'How long a session may be idle',
  maxConnections: 'Connections of one port at once',
  maxListens: 'Open listen streams at once',
  maxSubscriptions: 'Resources and tasks that one client may subscribe to',
  maxParked: 'Calls waiting for an answer from the user, per principal',
  parkedMs: 'For how long they wait',
  maxRounds: 'Rounds of questions within one call',
  maxShownChars: 'Characters of a question that only a person may answer; what is longer is refused',
  pairCodeMs: 'How long a code of `parley pair` works',
  maxPairTries: 'Wrong codes after which further wrong ones are refused as too many (429), for a minute',
  maxPool:
    'Calls of one principal that may ask, at work at once on one server, each on a connection of its own; later calls wait. A call whose question is open does not count',
  maxHops: 'Gateways that a request may pass before it reaches this one',
  maxProcesses: 'Processes of one server at once',
  ownIdleMs: 'How long a process that serves one client, or only lists, stays after its client has gone',
  pingMs:
    'How long a process may take to answer a ping before it is restarted, after a call timed out during which it said nothing',
  maxEvents: 'Events kept for resumption, per session',
  maxEventBytes: 'Bytes of events kept for resumption, per session',
  maxTasks: 'Tasks kept per principal',
  taskTtlMs: 'For how long a task is kept at most',
  pollMs: 'How long a long-poll waits',
  keepAliveMs:
    'How often an idle stream sends a comment, and a WebSocket a ping. The answer to a POST becomes a stream after that long in silence',
  primeMs: 'The same for a client whose revision can resume such a stream: it gets an event id to come back with',
  maxCallMs: 'How long a call to a server may take in all, however much progress it reports',
  maxAuditFileBytes: 'Bytes of one file of the audit log; then a new file begins',
  maxAuditBytes: 'Bytes of all files of the audit log; the oldest are removed',
  maxAuditFiles: 'Files of the audit log; each process that records has its own',
};

export function limitsShape(): TypedShape<Partial<Limits>> {
  const keys = Object.entries(DEFAULT_LIMITS).map(([name, value]: [string, number]): [string, TypedShape<number>] => {
    const about = `${ABOUT[name as keyof Limits]}. Default: ${value}.`;
    return [name, integer(about, { min: 1, ...(name.endsWith('Ms') && { max: MAX_MS }) })];
  });
  return object(Object.fromEntries(keys), 'Upper bounds on what a client or server can make grow.');
}
