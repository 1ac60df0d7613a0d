// What every dialect needs to serve the clients of one target. One per listening server, shared by all its connections.
import type { RecordAudit } from '../../../kernel/audit.ts';
import { EventHub } from '../../../kernel/events/event-hub.ts';
import type { Target } from '../../../kernel/target.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { FairShares } from '../../../kernel/containers/fair-shares.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import { toSafeLog } from '../../../kernel/base/log.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import type { Nodes } from '../../../kernel/nodes/nodes.ts';
import type { State } from '../../../kernel/state/state.ts';
import { keysFrom } from '../../../kernel/crypto/state-keys.ts';
import { ALL_REVISIONS, hasSessions } from '../revisions.ts';
import { createParkedCalls } from './parked-calls.ts';
import type { ParkedCalls } from './parked-calls.ts';

export interface ServeContext {
  readonly target: Target;
  /** The supported revisions; `draft` stands for the draft dialect. */
  readonly revisions: readonly string[];
  /** Whether a revision without sessions is supported. */
  readonly stateless: boolean;
  /** Whether one with sessions is. */
  readonly handshake: boolean;
  readonly limits: Limits;
  readonly log: Log;
  readonly clock: Clock;
  /** Hears of what the gateway does not let happen. */
  readonly hub: EventHub;
  readonly sealer: Sealer;
  /** Holds state that outlives the process. */
  readonly stateFolder?: string | undefined;
  /** What gateways remember together. */
  readonly state?: State | undefined;
  /** The gateways that serve as one. */
  readonly nodes?: Nodes | undefined;
  readonly parked: ParkedCalls;
  /** Creates the event store of a session. Default: in memory. */
  readonly eventStore?: (() => EventStore) | undefined;
  /** The gateway's id: a request that carries it has been here before. */
  readonly id?: string | undefined;
  /** Open listen streams of all connections. */
  readonly listens: FairShares;
}

export interface ServeContextOptions {
  revisions?: readonly string[] | undefined;
  limits?: Partial<Limits> | undefined;
  log?: Log | undefined;
  clock?: Clock | undefined;
  /** Takes what is worth proving: calls, approvals, refusals, logins. Default: nothing is recorded. */
  audit?: RecordAudit | undefined;
  /**
   * Keys that seal what clients carry, such as cursors: the first seals, all of them open. Default: made for this
   * process, or stored in `stateFolder`.
   */
  keys?: readonly string[] | undefined;
  /** A private folder for keys and the list of open sessions, so that HTTP sessions survive a restart. */
  stateFolder?: string | undefined;
  /** Creates the store of a session's events, for clients that reconnect. Default: in memory. */
  events?: (() => EventStore) | undefined;
  /** Identifies a gateway to the gateways around it (kernel/base/via.ts). */
  id?: string | undefined;
  /** Replaces the sealer made from `keys`. */
  sealer?: Sealer | undefined;
}

/** What gateways have that serve as one. */
interface SharedServing {
  state?: State | undefined;
  nodes?: Nodes | undefined;
}

/**
 * Stores the events of a session's streams, so that a client can resume after a broken connection. One per session; the
 * default is in memory, and others may store events outside the process.
 */
export interface EventStore {
  append(event: StoredEvent): void;
  /** The later events of a stream, in order. */
  after(stream: string, sequence: number): Promise<StoredEvent[]> | StoredEvent[];
}

export interface StoredEvent {
  stream: string;
  /** Counts up within its stream. */
  sequence: number;
  text: string;
}

/** `hub`: that of a gateway. Default: only `audit` listens. */
export function createServeContext(
  target: Target,
  options: ServeContextOptions & SharedServing = {},
  hub?: EventHub,
): ServeContext {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const clock = options.clock ?? systemClock;
  const log = toSafeLog(options.log);
  const revisions = checkRevisions(options.revisions ?? ALL_REVISIONS);
  return {
    target,
    revisions,
    stateless: !revisions.every(hasSessions),
    handshake: revisions.some(hasSessions),
    limits,
    id: options.id,
    eventStore: options.events,
    log,
    clock,
    hub: hub ?? hubFor(options.audit, log, clock),
    sealer: options.sealer ?? createSealer(keysFrom(options, log)),
    stateFolder: options.stateFolder,
    state: options.state,
    nodes: options.nodes,
    parked: createParkedCalls(limits, clock),
    listens: new FairShares(limits.maxListens),
  };
}

function hubFor(audit: RecordAudit | undefined, log: Log, clock: Clock): EventHub {
  const hub = new EventHub({ log, clock });
  if (audit) hub.watch({ what: 'audit', event: audit });
  return hub;
}

function checkRevisions(revisions: readonly string[]): readonly string[] {
  const unknown = revisions.find((revision) => !ALL_REVISIONS.includes(revision));
  if (unknown !== undefined || revisions.length === 0) {
    const reason = `${unknown ?? 'an empty list'} is not among ${ALL_REVISIONS.join(', ')}`;
    throw new GatewayError('BAD_OPTION', { option: 'revisions', reason });
  }
  return revisions;
}
