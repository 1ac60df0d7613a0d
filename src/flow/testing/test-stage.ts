// Plays a flow over one store in processes that may crash, with a clock that moves only if nothing else can happen. The next process
// repeats the request of a crashed one, as a client without an answer would. Every turn replays the body.
import { messageOf } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { Ask } from '../authoring/ask.ts';
import type { RetryPolicy, StepContext, StepOptions } from '../authoring/step.ts';
import type { AnyFlow } from '../define.ts';
import { callerQuestions, isEnded } from '../header.ts';
import type { JournalEntry } from '../journal.ts';
import { withOutcome } from '../session/turn/ended-record.ts';
import type { FlowLimits } from '../session/context/flow-limits.ts';
import { Sessions } from '../session/sessions.ts';
import { toRetryPause } from '../session/context/step-limits.ts';
import { afterSteps } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { AnswerRequest, GivenAnswer } from '../session/context/requests.ts';
import { toExpiredTurn } from '../session/verbs/session-watch.ts';
import { memoryStore } from '../store/memory/memory.ts';
import type { StoredSession, FlowStore } from '../store/store.ts';
import type { ManualClock } from './manual-clock.ts';

export const TESTER = { principal: 'tester' };
/** Base of event URLs; no network resolves this name (RFC 2606). The test delivers events itself. */
export const UNREACHABLE_URL = 'https://flows.invalid';

export interface StepSeen {
  key: string;
  idempotencyKey: string;
  effect: 'retry' | 'once' | undefined;
}

/** One try to undo an effect. */
export interface UndoSeen {
  key: string;
  /** Why it failed; it is tried again then. */
  error?: string;
}

export interface Observation {
  returned?: unknown;
  steps: StepSeen[];
  undos: UndoSeen[];
  /** How many undos run now. */
  undoing: number;
}

export function createObservation(): Observation {
  return { steps: [], undos: [], undoing: 0 };
}

export interface TestStage {
  /** Runs a request until the flow asks something, ends, or waits for others. */
  act: (request: (sessions: Sessions) => Promise<Turn>) => Promise<Turn>;
  /** Waits for the steps that run while a question is open. */
  work: () => Promise<Turn>;
  /** Answers as another person. */
  answerAs: (principal: string, answer: GivenAnswer) => Promise<Turn>;
  /** Delivers an event. */
  deliver: (event: string, value: unknown) => Promise<Turn>;
  /** Moves the clock to this time. */
  pass: (at: number) => Promise<Turn>;
  /** Plays an early end to its last undo, with all its tries. Returns the effects that could not be undone. */
  finish: () => Promise<readonly string[]>;
  readonly journal: JournalEntry[];
  readonly seen: Observation;
}

interface StageOptions {
  fatal: CrashPoints;
  clock: ManualClock;
  /** Idempotency keys are made of it. */
  sessionId: string;
  limits?: Partial<FlowLimits> | undefined;
}

export function createTestStage(flow: AnyFlow, { fatal, clock, sessionId, limits }: StageOptions): TestStage {
  const memory = memoryStore({ clock });
  const journal: JournalEntry[] = [];
  let crashPoints = fatal;
  const seen = createObservation();
  const begin = () =>
    createTestSessions(observeFlow(flow, crashPoints, seen), {
      clock,
      sessionId,
      limits,
      store: createCrashingStore(memory, crashPoints, journal),
    });

  /** The session after the next process has recovered it; undefined if nothing was stored. */
  const recover = async (sessions: Sessions): Promise<Turn | undefined> => {
    const turns: Turn[] = [];
    const off = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
    await sessions.sweep();
    off();
    for (const turn of turns) await afterSteps(turn);
    const left = await memory.load(sessionId);
    return left && found(left, sessions);
  };

  let process = begin();
  const act: TestStage['act'] = async (request) => {
    const outcome = await Promise.race([request(process).then(afterSteps), crashPoints.death()]);
    if (outcome) return outcome;
    crashPoints = new CrashPoints();
    process = begin();
    const left = await recover(process);
    if (left && (isEnded(left.header) || left.header.rounds <= 1)) return left;
    return afterSteps(await request(process));
  };

  const now = async () => found(await memory.load(sessionId), process);
  const pass: TestStage['pass'] = (at) =>
    act((sessions) => {
      clock.move(Math.max(at - clock.now(), 0));
      return turnOf(sessions, now, () => sessions.sweep());
    });
  const answerAs: TestStage['answerAs'] = (principal, answer) => {
    const request = { principal, sessionId, answers: [answer] };
    return act((sessions) => answered(sessions, now, request));
  };
  const deliver: TestStage['deliver'] = (event, value) =>
    act((sessions) => turnOf(sessions, now, () => sessions.deliver({ sessionId, event, value })));
  const work: TestStage['work'] = () => act((sessions) => worked(sessions, now));
  const finish: TestStage['finish'] = async () => {
    const { header } = await act((sessions) => undone(sessions, { sessionId, clock, seen }).then(now));
    return header.notUndone ?? [];
  };
  return { act, work, answerAs, deliver, pass, finish, journal, seen };
}

/** One process of the test. */
function createTestSessions(
  flow: AnyFlow,
  { clock, sessionId, limits: own, store }: Omit<StageOptions, 'fatal'> & { store: FlowStore },
): Sessions {
  // All answers come within one second of the test clock.
  const limits = { ...own, respondsPerSecond: Infinity };
  const options = { clock, limits, leaseMs: 0, graceMs: 0, warm: 0, log: createLog({ level: 'silent' }) };
  const fixed = { newId: () => sessionId, newSeed: () => 'c2VlZGZvcnRlc3RzISEhIQ', keys: ['tests'] };
  return new Sessions([flow], { ...options, ...fixed, baseUrl: () => UNREACHABLE_URL, store });
}

/** Turns of the event loop without an undo, after which only time can continue. */
const QUIET_TURNS = 20;
/** Longer than every pause between two tries to undo. */
const UNDO_PAUSE_MS = 5 * 60_000;

/** Time moves only between two tries. */
async function undone(
  sessions: Sessions,
  { sessionId, clock, seen }: { sessionId: string; clock: ManualClock; seen: Observation },
): Promise<void> {
  for (let quiet = 0; sessions.isLive(sessionId); quiet++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (seen.undoing > 0) quiet = 0;
    if (quiet < QUIET_TURNS) continue;
    quiet = 0;
    clock.move(UNDO_PAUSE_MS);
  }
}

/** The turn after some work. */
async function turnOf(sessions: Sessions, now: () => Promise<Turn>, work: () => Promise<unknown>): Promise<Turn> {
  const turns: Turn[] = [];
  const off = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
  await work().finally(off);
  return turns.at(-1) ?? now();
}

/** The turn after the answer of another person, with the verdicts. */
async function answered(sessions: Sessions, now: () => Promise<Turn>, request: AnswerRequest): Promise<Turn> {
  let verdicts: Turn['verdicts'];
  const turn = await turnOf(sessions, now, async () => ({ verdicts } = await sessions.answer(request)));
  return verdicts ? { ...turn, verdicts } : turn;
}

/** The turn after the steps that run while a question is open. */
async function worked(sessions: Sessions, now: () => Promise<Turn>): Promise<Turn> {
  let off = (): void => {};
  const moved = new Promise<Turn>((resolve) => {
    off = sessions.on((event) => event.kind === 'turn' && resolve(event.turn));
  });
  const turn = await now();
  return (turn.header.busy ? moved : Promise.resolve(turn)).finally(off);
}

function found(stored: StoredSession | undefined, { context }: Sessions): Turn {
  if (!stored) throw new Error('The session is gone');
  const { header } = stored;
  if (header.reason === 'expired') return toExpiredTurn(header);
  return { header, questions: callerQuestions(header), ...withOutcome(context, header) };
}

type Step = (key: string, work: (step: StepContext) => unknown, options?: StepOptions<unknown>) => Promise<unknown>;

/** Records what the body returns and which steps run, with their keys. Nothing is recorded after the crash of its process. */
export function observeFlow(flow: AnyFlow, crashPoints: CrashPoints, seen: Observation): AnyFlow {
  const watched = (ask: Ask): Ask => {
    const original: Step = (key, work, options) => (ask as unknown as { step: Step }).step(key, work, options);
    // Retries need no pause here, as the test clock moves only for sleeps.
    const step: Step = (key, work, { retry, ...options } = {}) =>
      original(
        key,
        async (context) => {
          await crashPoints.pass(`before step ${key}`);
          const result = await withoutPauses(retry, (attempt) => {
            seen.steps.push({ key, idempotencyKey: context.idempotencyKey, effect: options.effect });
            return work(attempt === 1 ? context : { ...context, attempt });
          });
          await crashPoints.pass(`after step ${key}`);
          return result;
        },
        // Its spans are checked as on a server.
        withWatchedUndo(key, retry ? { ...options, retry: { ...retry, attempts: 1 } } : options, seen),
      );
    return Object.assign(Object.create(ask) as Ask, { step, scope: (id: string) => watched(ask.scope(id)) });
  };
  const body = async (ask: Ask, input: unknown) => {
    const returned: unknown = await flow.body(watched(ask), input);
    if (!crashPoints.isDead) seen.returned = returned;
    return returned;
  };
  return { ...flow, body };
}

function withWatchedUndo(key: string, options: object, seen: Observation): StepOptions<unknown> {
  const { undo, ...rest } = options as StepOptions<unknown>;
  if (!undo) return rest;
  const watched: typeof undo = async (result, step) => {
    seen.undoing++;
    try {
      await undo(result, step);
      seen.undos.push({ key });
    } catch (error) {
      seen.undos.push({ key, error: messageOf(error) });
      throw error;
    } finally {
      seen.undoing--;
    }
  };
  return { ...rest, undo: watched } as StepOptions<unknown>;
}

async function withoutPauses(retry: RetryPolicy | undefined, work: (attempt: number) => unknown): Promise<unknown> {
  for (let tried = 1; ; tried++) {
    try {
      return await work(tried);
    } catch (error) {
      if (toRetryPause(retry, { error, tried, elapsedMs: 0 }) === undefined) throw error;
    }
  }
}

/**
 * Counts the points where a process can crash, and crashes at one of them: before and after every write, and around every step. Promises of a
 * crashed process never settle.
 */
export class CrashPoints {
  passed = 0;
  /** Where it crashed. */
  died: string | undefined;
  readonly #at: number | undefined;
  #onDeath = (): void => {};

  /** `at`: the point to crash at; undefined: never. */
  constructor(at?: number) {
    this.#at = at;
  }

  /** Resolves at the crash. */
  death(): Promise<void> {
    return new Promise((resolve) => (this.#onDeath = resolve));
  }

  get isDead(): boolean {
    return this.died !== undefined;
  }

  /** Never settles after a crash. */
  pass(where: string): Promise<void> {
    if (this.isDead) return new Promise(() => {});
    if (this.passed++ !== this.#at) return Promise.resolve();
    this.died = where;
    this.#onDeath();
    return new Promise(() => {});
  }
}

/** The store as one process sees it, until it crashes. */
export function createCrashingStore(inner: FlowStore, crashPoints: CrashPoints, journal: JournalEntry[]): FlowStore {
  const alive = <T>(work: () => Promise<T>): Promise<T> => (crashPoints.isDead ? new Promise(() => {}) : work());
  const write = async <T>(name: string, work: () => Promise<T>, add: JournalEntry[] = []): Promise<T> => {
    await crashPoints.pass(`before ${name}`);
    const done = await alive(work);
    if (isWritten(done)) journal.push(...add);
    await crashPoints.pass(`after ${name}`);
    return done;
  };
  return {
    durable: inner.durable,
    salt: inner.salt,
    create: (header, entries, limits) => write('create', () => inner.create(header, entries, limits), entries),
    commit: (id, rev, change) => write('commit', () => inner.commit(id, rev, change), change.add),
    lease: (id, owner, ms) => write('lease', () => inner.lease(id, owner, ms)),
    release: (id, owner) => write('release', () => inner.release(id, owner)),
    putBlob: (sha256, bytes, ttlMs) => write('putBlob', () => inner.putBlob(sha256, bytes, ttlMs)),
    spend: (id, rev, ttlMs) => alive(() => inner.spend(id, rev, ttlMs)),
    load: (id) => alive(() => inner.load(id)),
    due: (now, max) => alive(() => inner.due(now, max)),
    getBlob: (sha256) => alive(() => inner.getBlob(sha256)),
    list: (principal) => alive(() => inner.list(principal)),
    forgetOutcome: (id) => alive(async () => inner.forgetOutcome?.(id)),
    drop: (id) => alive(() => inner.drop(id)),
    close: () => inner.close(),
  };
}

/** A refused commit has added nothing. */
function isWritten(done: unknown): boolean {
  return done === 'ok' || (typeof done === 'object' && done !== null && 'ok' in done && done.ok === true);
}
