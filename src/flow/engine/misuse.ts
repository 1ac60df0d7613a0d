// Mistakes in a body that can be told at once.
import { GatewayError } from '../../shared/errors.ts';
import type { BodyRun } from './body-run.ts';
import { describeAsk } from './pending-ask.ts';
import type { AskSpec, EventSpec, SleepSpec, PendingStep, PendingAsk } from './pending-ask.ts';

/** What the body throws says of which flow it is. */
export function withFlowName(error: unknown, flow: string): unknown {
  const isUnnamed =
    error instanceof GatewayError && error.code === 'FLOW_MISUSED' && error.details['flow'] === undefined;
  return isUnnamed ? new GatewayError('FLOW_MISUSED', { ...error.details, flow }, { cause: error }) : error;
}

export function toNestedError(spec: AskSpec, running: PendingStep | undefined, flow: string): GatewayError {
  return new GatewayError('FLOW_MISUSED', {
    flow,
    reason: `${describeAsk(spec)} is inside of the step ${running?.spec.key ?? ''}; a step neither asks nor has steps, the body does`,
  });
}

/** What the body has asked for and never waited for: an effect would be left half done, an answer unread. */
export function checkAwaited(
  asked: readonly PendingAsk[],
  { input: { flow } }: BodyRun,
): { kind: 'failed'; error: GatewayError } | undefined {
  const forgotten = asked.find(({ promise, spec }) => !promise.interest.isAwaited && spec.kind !== 'event');
  if (!forgotten) return undefined;
  const reason = `${describeAsk(forgotten.spec)} is never awaited`;
  return { kind: 'failed', error: new GatewayError('FLOW_MISUSED', { flow: flow.name, reason }) };
}

/** It would never wake up, or never be given up. */
export function checkWaitLength(spec: SleepSpec | EventSpec, run: BodyRun): void {
  const ms = spec.kind === 'sleep' ? spec.sleepMs : (spec.timeoutMs ?? 0);
  if (run.since(spec.key) + ms <= (run.input.deadline ?? Infinity)) return;
  const what = spec.kind === 'sleep' ? `the sleep ${spec.key}` : `the timeout of the event ${spec.key}`;
  const reason = `${what} is longer than its session may last; raise limits.duration of the flow`;
  throw new GatewayError('FLOW_MISUSED', { reason });
}
