// Runs one step and returns its journal entry. Never throws.
import { createHmac } from 'node:crypto';
import type { StepContext } from '../../authoring/step.ts';
import { toMs } from '../../authoring/span.ts';
import { toJsonValue } from '../../engine/environment/json-value.ts';
import { findMisuse } from '../../engine/misuse.ts';
import { toErrorEntry } from '../../engine/step-error.ts';
import type { StepSpec } from '../../engine/pending-ask.ts';
import type { FoldedJournal } from '../../fold.ts';
import type { StepEntry } from '../../journal.ts';
import { toShortId } from '../session-id.ts';
import { Cancellation } from '../../../shared/cancellation.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { pause } from '../../../shared/timing.ts';
import { callTool } from './call-tool.ts';
import { readStoredFile, revealSecret } from '../values/secrets.ts';
import { toEventUrl } from '../external/event-url.ts';
import { toRetryPause } from './step-retry.ts';
import type { PromptStep } from '../../../protocol/form/prompt.ts';
import type { SessionContext } from '../session-context.ts';

export interface StepExecution {
  context: SessionContext;
  sessionId: string;
  /** A hash of the session's owner. */
  principal: string;
  spec: StepSpec;
  folded: FoldedJournal;
  signal: () => AbortSignal;
  onProgress?: ((progress: PromptStep) => void) | undefined;
}

/** The same on every attempt, in every process and under a renamed key. It changes only after the effect was undone. */
export function toIdempotencyKey(sessionId: string, key: string, { epochs, intents }: FoldedJournal): string {
  const begun = intents.get(key)?.entry.idem;
  if (begun) return begun;
  return createHmac('sha256', sessionId)
    .update(`${key}\0${epochs.get(key) ?? 0}`)
    .digest('base64url');
}

export async function runStep(run: StepExecution): Promise<StepEntry> {
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

/** An effect that must happen once, may have happened, and has no `check`. */
export function isOutcomeUnknown({ key, options }: StepSpec, { intents }: FoldedJournal): boolean {
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
