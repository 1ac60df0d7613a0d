// Mistakes in a body that can be told at once.
import { GatewayError } from '../../shared/errors.ts';
import type { Run } from './run.ts';
import { toWhat } from './want.ts';
import type { AnySpec, EventSpec, SleepSpec, StepWant, Want } from './want.ts';

export function toNested(spec: AnySpec, running: StepWant | undefined): GatewayError {
  return new GatewayError('FLOW_MISUSED', {
    reason: `${toWhat(spec)} inside of the step ${running?.spec.key ?? ''}; a step neither asks nor has steps, the body does`,
  });
}

/** What the body has asked for and never waited for: an effect would be left half done, an answer unread. */
export function toForgotten(asked: readonly Want[]): { kind: 'failed'; error: GatewayError } | undefined {
  const forgotten = asked.find(({ promise, spec }) => !promise.interest.isAwaited && spec.kind !== 'event');
  if (!forgotten) return undefined;
  const reason = `${toWhat(forgotten.spec)} without awaiting it`;
  return { kind: 'failed', error: new GatewayError('FLOW_MISUSED', { reason }) };
}

/** It would never wake up, or never be given up. */
export function refuseEndless(spec: SleepSpec | EventSpec, run: Run): void {
  const ms = spec.kind === 'sleep' ? spec.sleepMs : (spec.timeoutMs ?? 0);
  if (run.since(spec.key) + ms <= (run.input.deadline ?? Infinity)) return;
  const what = spec.kind === 'sleep' ? `a sleep (${spec.key})` : `a timeout for the event ${spec.key}`;
  const reason = `${what} that is longer than its session may last; raise limits.duration of the flow`;
  throw new GatewayError('FLOW_MISUSED', { reason });
}
