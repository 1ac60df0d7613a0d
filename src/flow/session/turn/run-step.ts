// The steps of a session: runs them with retries, limits and timeouts, and keeps those that run in this process.
import { createHmac } from 'node:crypto';
import type { PromptStep } from '../../../protocol/form/prompt.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { Cancellation } from '../../../shared/cancellation.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { pause } from '../../../shared/timing.ts';
import { toMs } from '../../authoring/span.ts';
import type { StepContext, RetryPolicy, ToolCallerOption, ToolAnswer } from '../../authoring/step.ts';
import { toJsonValue } from '../../engine/body-environment.ts';
import type { BodyRun } from '../../engine/body-run.ts';
import { findMisuse, toErrorEntry } from '../../engine/misuse.ts';
import type { StepSpec, RunState, PendingStep } from '../../engine/pending-ask.ts';
import type { FoldedJournal } from '../../fold.ts';
import type { StepEntry, JournalEntry } from '../../journal.ts';
import { toEventUrl } from '../external/deliver-event.ts';
import type { SessionContext } from '../session-context.ts';
import { toShortId } from '../session-id.ts';
import { readStoredFile, revealSecret } from '../values/secrets.ts';
import type { TurnInput } from './turn.ts';

interface Working {
  run: BodyRun;
  want: PendingStep;
  /** The result, until it is written. */
  entry?: StepEntry | undefined;
}

/** The signals for steps and for cleanup steps. */
interface StepSignals {
  work: Cancellation;
  cleanup: Cancellation;
}

/**
 * The steps that run in this process. When entries of another process come first, the run of the body is replaced by a new one; the steps
 * continue, and the new run adopts them when it reaches them.
 */
export class RunningSteps {
  /** Keys of the steps that this process has begun. */
  readonly began = new Set<string>();
  readonly #input: TurnInput;
  readonly #signals: StepSignals;
  readonly #steps = new Map<string, Working>();

  constructor(input: TurnInput, signals: StepSignals) {
    this.#input = input;
    this.#signals = signals;
  }

  /** While the session ends, only cleanup steps start. */
  start(run: BodyRun, wants: readonly PendingStep[], isEnding: boolean): void {
    for (const want of wants) {
      const { key, options } = want.spec;
      if (this.#steps.has(key)) this.#takeUp(run, want);
      else if (!isEnding || options.cleanup) this.#begin(run, want);
    }
  }

  /** The entries to write before effects begin. */
  intents(run: BodyRun, rest: RunState | undefined): JournalEntry[] {
    if (rest?.kind !== 'steps') return [];
    const { context, header } = this.#input;
    const begin = rest.steps.filter(({ spec }) => spec.options.effect !== undefined && !this.#steps.has(spec.key));
    return begin.map(({ spec: { key: k, options } }) => ({
      t: 'int',
      k,
      idem: toIdempotencyKey(header.id, k, run.input.folded),
      ...(options.undo && !options.cleanup && { undo: true }),
      ts: context.clock.now(),
    }));
  }

  /** The key of an effect whose outcome is unknown and that must not run again. */
  unknownOf(run: BodyRun, wants: readonly PendingStep[]): string | undefined {
    const isNew = ({ spec }: PendingStep) => !this.#steps.has(spec.key);
    return wants.find((want) => isNew(want) && isOutcomeUnknown(want.spec, run.input.folded))?.spec.key;
  }

  /** The results are written. */
  written(entries: readonly JournalEntry[]): void {
    for (const entry of entries) if (entry.t === 'step') this.#steps.delete(entry.k);
  }

  #begin(run: BodyRun, want: PendingStep): void {
    const { spec } = want;
    const { context, header } = this.#input;
    const step: Working = { run, want };
    this.#steps.set(spec.key, step);
    this.began.add(spec.key);
    run.stepStarted(want);
    const { id: sessionId, principal } = header;
    const abort = spec.options.cleanup ? this.#signals.cleanup : this.#signals.work;
    const signal = () => abort.signal;
    const onProgress = (progress: PromptStep) => this.#input.host.emit({ kind: 'progress', header, progress });
    const { folded } = run.input;
    void runStep({ context, sessionId, principal, spec, folded, signal, onProgress }).then((entry) => {
      step.entry = entry;
      step.run.stepFinished(step.want, entry);
    });
  }

  /** A new run of the body has reached a running step. */
  #takeUp(run: BodyRun, want: PendingStep): void {
    const step = this.#steps.get(want.spec.key)!;
    Object.assign(step, { run, want });
    run.stepStarted(want);
    if (step.entry) run.stepFinished(want, step.entry);
  }
}

interface StepExecution {
  context: SessionContext;
  sessionId: string;
  /** A hash of the session's owner. */
  principal: string;
  spec: StepSpec;
  folded: FoldedJournal;
  signal: () => AbortSignal;
  onProgress?: ((progress: PromptStep) => void) | undefined;
}

/** Returns the journal entry of a step. Never throws. */
async function runStep(run: StepExecution): Promise<StepEntry> {
  const { context, spec, folded } = run;
  const { limit, retry } = spec.options;
  const began = context.clock.now();
  let att = (folded.intents.get(spec.key)?.count ?? 0) + 1;
  const done = (outcome: Pick<StepEntry, 'v' | 'e'>): StepEntry => ({
    t: 'step',
    k: spec.key,
    ...outcome,
    att,
    ts: context.clock.now(),
  });
  const once = () => runWithinTimeout(run, att, work(run, att));
  for (let tried = 1; ; tried++, att++) {
    try {
      const value = await (limit ? context.stepLimits.run(limit, once) : once());
      const plain = toJsonValue(value, `the result of step ${spec.key}`, context.limits.stepBytes);
      return done(plain === undefined ? {} : { v: plain });
    } catch (error) {
      const misuse = findMisuse(error);
      if (misuse)
        context.log.warn({ session: toShortId(run.sessionId), step: spec.key, error, ...misuse }, 'flow.misused');
      const ms = toRetryPause(retry, { error, tried, elapsedMs: context.clock.now() - began });
      // The session may end meanwhile.
      if (ms === undefined || !(await pause(context.clock, ms, run.signal()))) return done({ e: toErrorEntry(error) });
    }
  }
}

/** The same on every attempt, in every process and under a renamed key. It changes only after the effect was undone. */
function toIdempotencyKey(sessionId: string, key: string, { epochs, intents }: FoldedJournal): string {
  const begun = intents.get(key)?.entry.idem;
  if (begun) return begun;
  return createHmac('sha256', sessionId)
    .update(`${key}\0${epochs.get(key) ?? 0}`)
    .digest('base64url');
}

/** An effect that must happen once, may have happened, and has no `check`. */
function isOutcomeUnknown({ key, options }: StepSpec, { intents }: FoldedJournal): boolean {
  return options.effect === 'once' && options.check === undefined && intents.has(key);
}

function work({ context, spec }: StepExecution, attempt: number): (step: StepContext) => unknown {
  const { check, effect } = spec.options;
  if (effect !== 'once') return spec.work;
  return async (step) => {
    const isFirst = attempt === 1 && ((await context.claimOnce?.(step.idempotencyKey)) ?? true);
    if (isFirst) return spec.work(step);
    if (!check) throw new GatewayError('FLOW_EFFECT_UNKNOWN', { step: spec.key });
    return (await check(step)) ?? spec.work(step);
  };
}

/** Rejects when the step exceeds its timeout or misses a heartbeat. */
export async function runWithinTimeout(
  run: StepExecution,
  attempt: number,
  work: (step: StepContext) => unknown,
): Promise<unknown> {
  const late = new Cancellation();
  const signal = () => AbortSignal.any([run.signal(), late.signal]);
  const deadline = toDeadline(run, late);
  try {
    return await Promise.race([work(toContext({ ...run, signal }, attempt, deadline.beat)), deadline.passed]);
  } finally {
    deadline.off();
  }
}

function toDeadline({ context: { clock, limits }, spec }: StepExecution, late: Cancellation) {
  const { timeout, heartbeat } = spec.options;
  const ms = timeout === undefined ? limits.stepMs : toMs(timeout, 'timeout of a step');
  const silence = heartbeat === undefined ? undefined : toMs(heartbeat, 'heartbeat of a step');
  let [offTime, offSilence] = [(): void => {}, (): void => {}];
  let giveUp = (_what: string, _ms: number): void => {};
  const passed = new Promise<never>((_, reject) => {
    giveUp = (what, after) => {
      // Reject first: the error that the abort causes says less.
      reject(new GatewayError('FLOW_TIMEOUT', { what, ms: after }));
      late.abort();
    };
  });
  let isOver = false;
  const beat = (): void => {
    if (silence === undefined || isOver) return;
    offSilence();
    offSilence = clock.after(silence, () => giveUp(`The next heartbeat of step ${spec.key}`, silence));
  };
  offTime = clock.after(ms, () => giveUp(`Step ${spec.key}`, ms));
  beat();
  const off = (): void => {
    isOver = true;
    offTime();
    offSilence();
  };
  return { passed, beat, off };
}

/** Creates the idempotency key and the signal on demand, since most steps use neither. */
function toContext(run: StepExecution, attempt: number, beat: () => void): StepContext {
  const { context, sessionId, principal, spec, folded, signal } = run;
  return {
    get idempotencyKey() {
      return toIdempotencyKey(sessionId, spec.key, folded);
    },
    attempt,
    get signal() {
      return signal();
    },
    heartbeat: beat,
    progress(current, total, message) {
      beat();
      run.onProgress?.({ current, ...(total !== undefined && { total }), ...(message !== undefined && { message }) });
    },
    call: (tool, args = {}) => callTool(tool, args, { tools: context.tools, principal, signal: signal() }),
    url: (event) => toEventUrl(context, sessionId, event),
    bytes: (file) => readStoredFile(context, file),
    reveal: (secret) => revealSecret(context, sessionId, secret),
  };
}

const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

interface FailedTry {
  error: unknown;
  /** The number of attempts so far. */
  tried: number;
  /** Time since the first attempt began. */
  elapsedMs: number;
}

/** The pause before the next attempt; undefined after the last attempt. */
export function toRetryPause(policy: RetryPolicy | undefined, failed: FailedTry): number | undefined {
  const { error, tried, elapsedMs } = failed;
  if (!policy || tried >= policy.attempts || !isMeant(policy, error)) return undefined;
  const first = policy.pause === undefined ? PAUSE_MS : toMs(policy.pause, 'pause of a retry');
  const longest = policy.maxPause === undefined ? MAX_PAUSE_MS : toMs(policy.maxPause, 'maxPause of a retry');
  const pause = Math.min(first * 2 ** (tried - 1), longest);
  const isLate = policy.within !== undefined && elapsedMs + pause > toMs(policy.within, 'within of a retry');
  return isLate ? undefined : pause;
}

function isMeant({ on }: RetryPolicy, thrown: unknown): boolean {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  // A mistake in the flow would fail again.
  if (error instanceof GatewayError && (error.code === 'FLOW_MISUSED' || error.code === 'FLOW_TOO_LARGE')) return false;
  if (on === undefined) return true;
  if (typeof on === 'function') return on(error);
  return on.includes(error.name) || (error instanceof GatewayError && on.includes(error.code));
}

/** Semaphores by name, first come, first served. */
export class StepLimits {
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  async run<T>({ name, max }: { name: string; max: number }, work: () => Promise<T>): Promise<T> {
    while ((this.#running.get(name) ?? 0) >= Math.max(max, 1)) await this.#turn(name);
    this.#running.set(name, (this.#running.get(name) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#leave(name);
    }
  }

  #turn(name: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(name) ?? [];
      waiting.push(resolve);
      this.#waiting.set(name, waiting);
    });
  }

  #leave(name: string): void {
    const left = (this.#running.get(name) ?? 1) - 1;
    if (left > 0) this.#running.set(name, left);
    else this.#running.delete(name);
    const waiting = this.#waiting.get(name);
    waiting?.shift()?.();
    if (waiting?.length === 0) this.#waiting.delete(name);
  }
}

interface ToolCallContext {
  tools: ToolCallerOption | undefined;
  principal: string;
  signal: AbortSignal;
}

/** Calls a tool with the gateway or client that the flows are served with. A tool result with `isError` fails the step. */
async function callTool<T>(name: string, args: JsonObject, calling: ToolCallContext): Promise<ToolAnswer<T>> {
  const { tools, principal, signal } = calling;
  if (!tools) {
    const reason = 'give serveFlows the gateway, or the client, by which steps call tools';
    throw new GatewayError('BAD_OPTION', { option: 'tools', reason });
  }
  const caller = typeof tools === 'function' ? await tools() : tools;
  const result = await caller.callTool(name, args, { signal, principal: `flow:${principal}` });
  if (result.isError) throw new ToolFailed(name, textOf(result.content));
  return result as ToolAnswer<T>;
}

/** Its message is the text of the tool. */
class ToolFailed extends Error {
  constructor(tool: string, text: string) {
    super(text === '' ? `${tool} failed` : text);
    this.name = 'ToolFailed';
  }
}

function textOf(content: ToolAnswer<unknown>['content']): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
