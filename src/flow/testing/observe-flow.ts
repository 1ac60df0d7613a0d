// Records what a flow's body returns and which steps run, with their keys.
import type { Ask } from '../authoring/ask.ts';
import type { RetryPolicy, StepContext, StepOptions } from '../authoring/step.ts';
import type { AnyFlow } from '../define.ts';
import { toRetryPause } from '../session/turn/step-retry.ts';
import type { CrashPoints } from './crash-points.ts';

export interface StepSeen {
  key: string;
  idempotencyKey: string;
  effect: 'retry' | 'once' | undefined;
}

export interface Observation {
  returned?: unknown;
  steps: StepSeen[];
}

type Step = (key: string, work: (step: StepContext) => unknown, options?: StepOptions<unknown>) => Promise<unknown>;

/** The flow in one process; nothing is recorded after its crash. */
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
        options,
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

async function withoutPauses(retry: RetryPolicy | undefined, work: (attempt: number) => unknown): Promise<unknown> {
  for (let tried = 1; ; tried++) {
    try {
      return await work(tried);
    } catch (error) {
      if (toRetryPause(retry, { error, tried, elapsedMs: 0 }) === undefined) throw error;
    }
  }
}
