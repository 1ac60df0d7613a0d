// Runs one step and makes of its outcome what the journal keeps. Never throws.
import { createHmac } from 'node:crypto';
import type { StepContext } from '../authoring/step.ts';
import { toMs } from '../authoring/span.ts';
import { toPlain } from '../engine/plain.ts';
import { toWritten } from '../engine/thrown.ts';
import type { StepSpec } from '../engine/want.ts';
import type { Folded } from '../fold.ts';
import type { StepEntry } from '../journal.ts';
import { GatewayError } from '../../shared/errors.ts';
import { callTool } from './call-tool.ts';
import { readFile, revealSecret } from './secrets.ts';
import type { Setup } from './setup.ts';

export interface StepRun {
  setup: Setup;
  sessionId: string;
  /** Whose the session is, as a hash. */
  principal: string;
  spec: StepSpec;
  /** When its session is over, however busy it is. */
  deadline?: number | undefined;
  folded: Folded;
  signal: () => AbortSignal;
}

/** The same on every try, in every process and under a new name; another one only after the effect was taken back. */
export function toIdempotencyKey(sessionId: string, key: string, { epochs, intents }: Folded): string {
  const begun = intents.get(key)?.entry.idem;
  if (begun) return begun;
  return createHmac('sha256', sessionId)
    .update(`${key}\0${epochs.get(key) ?? 0}`)
    .digest('base64url');
}

export async function runStep(run: StepRun): Promise<StepEntry> {
  const { setup, spec, folded } = run;
  const att = (folded.intents.get(spec.key)?.count ?? 0) + 1;
  const done = (outcome: Pick<StepEntry, 'v' | 'e'>): StepEntry => ({
    ...{ t: 'step', k: spec.key, ...outcome, att, ts: setup.clock.now() },
  });
  try {
    const value = await (spec.sleepMs === undefined ? inTime(run, att, work(run, att)) : sleep(run));
    const plain = toPlain(value, `the result of step ${spec.key}`, setup.limits.stepBytes);
    return done(plain === undefined ? {} : { v: plain });
  } catch (thrown) {
    return done({ e: toWritten(thrown) });
  }
}

/** Most steps look at neither the key nor the signal: both are made when they are asked for. */
function toContext(run: StepRun, attempt: number): StepContext {
  const { setup, sessionId, principal, spec, folded, signal } = run;
  return {
    get idempotencyKey() {
      return toIdempotencyKey(sessionId, spec.key, folded);
    },
    attempt,
    get signal() {
      return signal();
    },
    call: (tool, args = {}) => callTool(tool, args, { tools: setup.tools, principal, signal: signal() }),
    bytes: (file) => readFile(setup, file),
    reveal: (secret) => revealSecret(setup, sessionId, secret),
  };
}

/** An effect that must happen once, may have happened unseen, and cannot be looked for. */
export function isUnknown({ key, options }: StepSpec, { intents }: Folded): boolean {
  return options.effect === 'once' && options.check === undefined && intents.has(key);
}

function work({ setup, spec }: StepRun, attempt: number): (step: StepContext) => unknown {
  const { check, effect } = spec.options;
  if (effect !== 'once') return spec.work;
  return async (step) => {
    const isFirst = attempt === 1 && ((await setup.claimOnce?.(step.idempotencyKey)) ?? true);
    if (isFirst) return spec.work(step);
    if (!check) throw new GatewayError('FLOW_EFFECT_UNKNOWN', { step: spec.key });
    return (await check(step)) ?? spec.work(step);
  };
}

/** Rejects when the step takes longer than it may. */
export async function inTime(run: StepRun, attempt: number, work: (step: StepContext) => unknown): Promise<unknown> {
  const { setup, spec } = run;
  const ms = spec.options.timeout === undefined ? setup.limits.stepMs : toMs(spec.options.timeout, 'timeout of a step');
  let late: AbortController | undefined;
  const signal = () => AbortSignal.any([run.signal(), (late ??= new AbortController()).signal]);
  let off = (): void => {};
  const tooLate = new Promise<never>((_, reject) => {
    off = setup.clock.after(ms, () => {
      late?.abort();
      reject(new GatewayError('FLOW_TIMEOUT', { what: `Step ${spec.key}`, ms }));
    });
  });
  try {
    return await Promise.race([work(toContext({ ...run, signal }, attempt)), tooLate]);
  } finally {
    off();
  }
}

/** Until so long after it began, whichever process it began in. */
async function sleep({ setup, spec, folded, deadline = Infinity }: StepRun): Promise<void> {
  const began = folded.intents.get(spec.key)?.entry.ts ?? setup.clock.now();
  if (began + (spec.sleepMs ?? 0) > deadline) {
    const reason = `a sleep (${spec.key}) that is longer than its session may last; raise limits.duration of the flow`;
    throw new GatewayError('FLOW_MISUSED', { reason });
  }
  const left = began + (spec.sleepMs ?? 0) - setup.clock.now();
  await new Promise<void>((resolve) => {
    if (left <= 0) resolve();
    else setup.clock.after(left, resolve);
  });
}
