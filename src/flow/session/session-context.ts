// What everything about sessions has in common: where they are kept, what time it is, what may grow how far.
import { hash } from 'node:crypto';
import { systemClock } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { randomId } from '../../shared/crypto/ids.ts';
import { createLog } from '../../shared/log.ts';
import type { Log } from '../../shared/log.ts';
import { createSealer } from '../../shared/crypto/seal.ts';
import type { Sealer } from '../../shared/crypto/seal.ts';
import type { ToolCallerOption } from '../authoring/tool-caller.ts';
import type { Checks } from '../engine/run-input.ts';
import { readExplored } from '../explore/explored-file.ts';
import type { ExploredFlows, ExploredOption } from '../explore/explored-file.ts';
import { FlowCounts } from '../metrics/flow-counts.ts';
import { memoryStore } from '../store/memory.ts';
import type { FlowStore } from '../store/store.ts';
import { DEFAULT_FLOW_LIMITS } from './flow-limits.ts';
import type { PersonNotice } from './external/people.ts';
import type { FlowLimits } from './flow-limits.ts';
import { WarmBodies } from './turn/warm-body.ts';
import { StepLimits } from './turn/step-retry.ts';

export interface SessionOptions {
  /** Default: the memory of this process. */
  store?: FlowStore | undefined;
  clock?: Clock | undefined;
  log?: Log | undefined;
  limits?: Partial<FlowLimits> | undefined;
  /** Seal secrets in the store, newest first. Default: random per process. */
  keys?: string[] | undefined;
  /**
   * False: the result of a session that has ended is kept readable until its client has heard of it, as answers are while it is open.
   * Default: it is sealed if there are `keys`, since another process could not open it otherwise.
   */
  sealResults?: boolean | undefined;
  /** Who calls tools for steps (`step.call`): a gateway, or a client. */
  tools?: ToolCallerOption | undefined;
  /** What `parley explore` has found in the flows, or the file it was written to. Default: only declared arguments are known. */
  explored?: ExploredOption | undefined;
  /** What happens when a body reaches out by itself. Default: `throw`, in production `warn`. */
  checks?: Checks | undefined;
  /**
   * How many bodies may wait in memory for their next answer, which then needs no replay. Default: none, so that replay is what
   * everybody sees and tests; in production 1000.
   */
  warm?: number | undefined;
  /** False: bodies see the time and randomness that everybody sees, and nothing global is replaced. */
  virtual?: boolean | undefined;
  /**
   * False: nothing happens by itself. Sessions neither expire nor are gone on with after their process has died, unless another process
   * of the same store does it.
   */
  sweep?: boolean | undefined;
  /** Ids of sessions and seeds of their randomness; for tests. Default: random. */
  newId?: (() => string) | undefined;
  newSeed?: (() => string) | undefined;
  /** How long an answer waits for steps that only read before it is acknowledged without them. */
  graceMs?: number | undefined;
  /** How long this process may be silent before another one takes over what it was doing. */
  leaseMs?: number | undefined;
  /** Whether this is the first who begins the effect of this key; where the journal cannot tell. */
  claimOnce?: ((idempotencyKey: string) => Promise<boolean>) | undefined;
  /**
   * Brings a question to the person who is asked (`ask.person`), and reminds them: by mail, in a chat. May be called again for the same
   * question after a crash; one that rejects is called again in a second, then in two, up to a minute.
   */
  notify?: ((notice: PersonNotice) => unknown) | undefined;
  /** How others reach this server by HTTP; undefined where they cannot. */
  baseUrl?: (() => string | undefined | Promise<string | undefined>) | undefined;
}

export interface SessionContext {
  readonly store: FlowStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: FlowLimits;
  readonly sealer: Sealer;
  readonly sealsResults: boolean;
  readonly tools: ToolCallerOption | undefined;
  readonly explored: readonly ExploredFlows[];
  readonly checks: Checks;
  readonly warmBodies: WarmBodies;
  readonly virtual: boolean;
  readonly sweeps: boolean;
  readonly newId: () => string;
  readonly newSeed: () => string;
  readonly graceMs: number;
  readonly leaseMs: number;
  readonly claimOnce: ((idempotencyKey: string) => Promise<boolean>) | undefined;
  readonly notify: SessionOptions['notify'];
  readonly baseUrl: SessionOptions['baseUrl'];
  /** This process, among those that share the store. */
  readonly owner: string;
  readonly counts: FlowCounts;
  /** Of steps with a `limit`. */
  readonly stepLimits: StepLimits;
  /** Sessions stay in the store after the request: what is left undone can be done later. */
  readonly lasting: boolean;
}

/** Of some 8 KB each. */
const WARM_BODIES = 1000;

export function createSessionContext(
  options: SessionOptions,
  env: Record<string, string | undefined> = process.env,
): SessionContext {
  const clock = options.clock ?? systemClock;
  const isProduction = env['NODE_ENV'] === 'production';
  const log = options.log ?? createLog();
  const sealer = createSealer(options.keys);
  return {
    store: options.store ?? memoryStore({ clock }),
    clock,
    log,
    limits: { ...DEFAULT_FLOW_LIMITS, ...options.limits },
    sealer,
    sealsResults: options.sealResults ?? sealer.durable,
    tools: options.tools,
    explored: readExplored(options.explored, log),
    checks: options.checks ?? (isProduction ? 'warn' : 'throw'),
    warmBodies: new WarmBodies(options.warm ?? (isProduction ? WARM_BODIES : 0)),
    virtual: options.virtual ?? true,
    sweeps: options.sweep ?? true,
    newId: options.newId ?? (() => randomId('session_')),
    newSeed: options.newSeed ?? randomId,
    graceMs: options.graceMs ?? 20,
    leaseMs: options.leaseMs ?? 30_000,
    claimOnce: options.claimOnce,
    notify: options.notify,
    baseUrl: options.baseUrl,
    owner: randomId('node_'),
    counts: new FlowCounts(),
    stepLimits: new StepLimits(),
    lasting: true,
  };
}

const owners = new Map<string, string>();
const MAX_OWNERS = 10_000;

/** Whose a session is: never the name itself. */
export function toOwner(principal: string): string {
  const known = owners.get(principal);
  if (known !== undefined) return known;
  if (owners.size >= MAX_OWNERS) owners.clear();
  const owner = hash('sha256', `mcp-parley/flow-principal\0${principal}`, 'base64url').slice(0, 22);
  owners.set(principal, owner);
  return owner;
}
