// Errors of bodies: mistakes of their authors, and errors of steps as the journal has them.
import { GatewayError } from '../../shared/errors.ts';
import type { StepEntry } from '../journal.ts';
import { authorLineOf } from './author-line.ts';
import type { BodyRun } from './body-run.ts';
import { describeAsk } from './pending-ask.ts';
import type { AskSpec, EventSpec, SleepSpec, PendingStep, PendingAsk } from './pending-ask.ts';

/** Adds the name of the flow to an error of the body. */
export function withFlowName(error: unknown, flow: string): unknown {
  const isUnnamed =
    error instanceof GatewayError && error.code === 'FLOW_MISUSED' && error.details['flow'] === undefined;
  return isUnnamed ? new GatewayError('FLOW_MISUSED', { ...error.details, flow }, { cause: error }) : error;
}

export function toNestedError(spec: AskSpec, running: PendingStep | undefined, flow: string): GatewayError {
  return new GatewayError('FLOW_MISUSED', {
    flow,
    reason: `${describeAsk(spec)} is inside the step ${running?.spec.key ?? ''}; only the body may ask or run steps`,
  });
}

const places = new WeakMap<PendingAsk, Error>();

/** Remembers where the body asked. Capturing a stack takes a microsecond, so this happens only in development. */
export function withPlace(asked: PendingAsk): PendingAsk {
  places.set(asked, new Error('It was asked for here'));
  return asked;
}

/** The line in the author's code, for the log. Clients never see it. */
export function findMisuse(error: unknown): { where: string } | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'FLOW_MISUSED') return undefined;
  const made = error.cause instanceof Error ? error.cause : error;
  const where = authorLineOf(made);
  return where === undefined ? undefined : { where };
}

/** Fails if the body never awaited something: an effect would be left half done, an answer unread. */
export function checkAwaited(
  asked: readonly PendingAsk[],
  { input: { flow } }: BodyRun,
): { kind: 'failed'; error: GatewayError } | undefined {
  const forgotten = asked.find(({ promise, spec }) => !promise.interest.isAwaited && spec.kind !== 'event');
  if (!forgotten) return undefined;
  const reason = `${describeAsk(forgotten.spec)} is never awaited`;
  const cause = places.get(forgotten);
  return { kind: 'failed', error: new GatewayError('FLOW_MISUSED', { flow: flow.name, reason }, { cause }) };
}

/** A wait that is longer than its session would never end. */
export function checkWaitLength(spec: SleepSpec | EventSpec, run: BodyRun): void {
  const ms = spec.kind === 'sleep' ? spec.sleepMs : (spec.timeoutMs ?? 0);
  if (run.since(spec.key) + ms <= (run.turn.deadline ?? Infinity)) return;
  const what = spec.kind === 'sleep' ? `the sleep ${spec.key}` : `the timeout of the event ${spec.key}`;
  const reason = `${what} is longer than its session may last; raise limits.duration of the flow`;
  throw new GatewayError('FLOW_MISUSED', { reason });
}

type Written = NonNullable<StepEntry['e']>;

/** The first run gets the same error as every replay: name, message and data, without its class. */
class StepError extends Error {
  readonly data: unknown;

  constructor({ name, message, data }: Written) {
    super(message);
    this.name = name;
    this.data = data;
  }
}

export function fromErrorEntry(written: Written): StepError {
  return new StepError(written);
}

export function toErrorEntry(thrown: unknown): Written {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) };
  if (thrown instanceof GatewayError) return { name: thrown.code, message: thrown.message };
  const { name, message } = thrown;
  const data: unknown = (thrown as { data?: unknown }).data;
  return { name, message, ...(isJson(data) && { data }) };
}

function isJson(data: unknown): boolean {
  if (data === undefined) return false;
  try {
    return JSON.stringify(data) !== undefined;
  } catch {
    return false;
  }
}
