// Mistakes in a body that can be told at once.
import { GatewayError } from '../../shared/errors.ts';
import type { Run } from './run.ts';
import { toWhat } from './want.ts';
import type { AnySpec, EventSpec, SleepSpec, StepWant, Want } from './want.ts';

/** What the body throws says of which flow it is. */
export function withFlow(error: unknown, flow: string): unknown {
  const isUnnamed =
    error instanceof GatewayError && error.code === 'FLOW_MISUSED' && error.details['flow'] === undefined;
  return isUnnamed ? new GatewayError('FLOW_MISUSED', { ...error.details, flow }, { cause: error }) : error;
}

export function toNested(spec: AnySpec, running: StepWant | undefined, flow: string): GatewayError {
  return new GatewayError('FLOW_MISUSED', {
    flow,
    reason: `${toWhat(spec)} is inside of the step ${running?.spec.key ?? ''}; a step neither asks nor has steps, the body does`,
  });
}

/** What the body has asked for and never waited for: an effect would be left half done, an answer unread. */
export function toForgotten(
  asked: readonly Want[],
  { input: { flow } }: Run,
): { kind: 'failed'; error: GatewayError } | undefined {
  const forgotten = asked.find(({ promise, spec }) => !promise.interest.isAwaited && spec.kind !== 'event');
  if (!forgotten) return undefined;
  const reason = `${toWhat(forgotten.spec)} is never awaited`;
  return { kind: 'failed', error: new GatewayError('FLOW_MISUSED', { flow: flow.name, reason }) };
}

/** It would never wake up, or never be given up. */
export function refuseEndless(spec: SleepSpec | EventSpec, run: Run): void {
  const ms = spec.kind === 'sleep' ? spec.sleepMs : (spec.timeoutMs ?? 0);
  if (run.since(spec.key) + ms <= (run.input.deadline ?? Infinity)) return;
  const what = spec.kind === 'sleep' ? `the sleep ${spec.key}` : `the timeout of the event ${spec.key}`;
  const reason = `${what} is longer than its session may last; raise limits.duration of the flow`;
  throw new GatewayError('FLOW_MISUSED', { reason });
}
