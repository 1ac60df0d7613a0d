// What all code about sessions shares: the store, the clock, the log, the limits and the options of the server.
import { atOnce } from '../../../kernel/base/stray-promises.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { toSafeLog } from '../../../kernel/base/log.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import type { ToolCallerOption } from '../../authoring/step.ts';
import type { Checks } from '../../engine/run-input.ts';
import { readExplored } from '../../explore/exploration.ts';
import type { ExploredFlows, ExploredOption } from '../../explore/exploration.ts';
import { FlowCounts } from '../../flow-metrics.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import type { FlowStore } from '../../store/store.ts';
import { DEFAULT_FLOW_LIMITS } from './flow-limits.ts';
import type { FlowLimits } from './flow-limits.ts';
import { WarmBodies } from './warm-bodies.ts';
import { StepLimits } from './step-limits.ts';

/** The message for the `notify` option, which sends it by mail, chat and so on. */
export interface PersonNotice {
  kind: 'asked' | 'reminder';
  /** The principal who is asked. */
  person: string;
  sessionId: string;
  tool: string;
  promptId: string;
  message: string;
  /** The page on which this person answers this question. Undefined if browsers cannot reach this server. */
  link?: string | undefined;
}

export interface SessionOptions {
  /** Default: the memory of this process. */
  store?: FlowStore | undefined;
  clock?: Clock | undefined;
  log?: Log | undefined;
  limits?: Partial<FlowLimits> | undefined;
  /** Keys that seal secrets in the store, newest first. Default: random per process. */
  keys?: string[] | undefined;
  /**
   * Whether the result of an ended session is sealed until its client has acknowledged it. Default: only if there are `keys`, since another
   * process could not open it otherwise.
   */
  sealResults?: boolean | undefined;
  /** Calls tools for steps (`step.call`): a gateway or a client. */
  tools?: ToolCallerOption | undefined;
  /** What `parley explore` found in the flows, or the path of its file. Default: only declared arguments are known. */
  explored?: ExploredOption | undefined;
  /** What I/O outside of a step does. Default: `throw`, in production `warn`. */
  checks?: Checks | undefined;
  /** How many bodies may wait in memory, so that their next answer needs no replay. Default: 0, so that tests use replay; in production 1000. */
  warm?: number | undefined;
  /** False: bodies see the real time and randomness, and no global is replaced. */
  virtual?: boolean | undefined;
  /** False: this process neither expires sessions nor takes over those of dead processes. Another process of the store may. */
  sweep?: boolean | undefined;
  /** Creates session ids and seeds, for tests. Default: random. */
  newId?: (() => string) | undefined;
  newSeed?: (() => string) | undefined;
  /** How long the reply to an answer waits for steps without effects. */
  graceMs?: number | undefined;
  /** How long this process may be silent before another one takes over its sessions. */
  leaseMs?: number | undefined;
  /** True for the first caller with this key. For sessions in tokens, whose journal can be replayed from an older state. */
  claimOnce?: ((idempotencyKey: string) => Promise<boolean>) | undefined;
  /**
   * Notifies and reminds the person who is asked (`ask.person`), for example by mail or chat. It may be called again for the same question
   * after a crash. If it rejects, it is called again after 1 s, 2 s, … up to a minute.
   */
  notify?: ((notice: PersonNotice) => unknown) | undefined;
  /** The URL of this server; undefined if it cannot be reached by HTTP. */
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
  /** Identifies this process among those that share the store. */
  readonly owner: string;
  readonly counts: FlowCounts;
  /** For steps with a `limit`. */
  readonly stepLimits: StepLimits;
  /** Sessions outlive the request, so unfinished work can be done later. */
  readonly lasting: boolean;
}

/** About 8 KB each. */
const WARM_BODIES = 1000;

export function createSessionContext(
  options: SessionOptions,
  env: Record<string, string | undefined> = process.env,
): SessionContext {
  const clock = options.clock ?? systemClock;
  const isProduction = env['NODE_ENV'] === 'production';
  const log = toSafeLog(options.log);
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
    newId: () => (options.newId ? atOnce('newId', options.newId()) : randomId('session_')),
    newSeed: () => (options.newSeed ? atOnce('newSeed', options.newSeed()) : randomId()),
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
