// Errors of bodies: mistakes of their authors, and errors of steps as the journal has them.
import { GatewayError, toReadable } from '../../kernel/base/errors.ts';
import type { StepEntry } from '../journal.ts';
import { readThrown } from './author-code.ts';
import { authorLineOf, isPackageLine } from './author-line.ts';
import { describeAsk } from './pending-ask.ts';
import type { AskSpec, PendingStep, PendingAsk } from './pending-ask.ts';

/** Adds the name of the flow to an error of the body. */
export function withFlowName(thrown: unknown, flow: string): unknown {
  const error = toReadable(thrown);
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

/**
 * Remembers where the body asked. Capturing a stack takes a microsecond, so this happens only in development, and where a schema may turn out
 * to be useless when an answer arrives.
 */
export function withPlace(asked: PendingAsk, isDeveloping: boolean): PendingAsk {
  if (isDeveloping || hasSchema(asked.spec)) places.set(asked, new Error('It was asked for here'));
  return asked;
}

function hasSchema(spec: AskSpec): boolean {
  return spec.kind === 'event'
    ? spec.schema !== undefined
    : spec.kind === 'custom' && spec.options.schema !== undefined;
}

/** The line that asked for it, for a mistake that shows only later, such as a schema that does not compile. */
export function withAskedPlace(error: GatewayError, asked: PendingAsk): GatewayError {
  const place = places.get(asked);
  if (place) askedAt.set(error, place);
  return error;
}

const askedAt = new WeakMap<Error, Error>();

const definitions = new WeakMap<object, Error>();

/** Remembers where a flow was defined, for mistakes that belong to no line of its body, such as a result that is not JSON. */
export function rememberDefinition(body: object): void {
  definitions.set(body, new Error('The flow is defined here'));
}

/** The line in the author's code, for the log. Clients never see it. */
export function findPlace(thrown: unknown, body?: object): { where: string } | undefined {
  const error = toReadable(thrown);
  const causes = causesOf(error);
  const asked = causes.flatMap((one) => askedAt.get(one) ?? []);
  const defined = (isMisuse(error) && body && definitions.get(body)) || undefined;
  const lines = [...causes, ...asked, ...(defined ? [defined] : [])].flatMap((one) => authorLineOf(one) ?? []);
  // Rather a line of the author than one of a package that the author uses.
  const where = lines.find((line) => !isPackageLine(line)) ?? lines[0];
  return where === undefined ? undefined : { where };
}

/** The deepest first: that is the author's code, and not what called it. */
function causesOf(error: unknown, depth = 0): Error[] {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return [];
  return [...causesOf(readCause(error), depth + 1), error];
}

/** Causes may be a cycle. */
const MAX_CAUSES = 10;

function readCause(error: Error): unknown {
  try {
    return toReadable(error.cause);
  } catch {
    return undefined; // a getter of the author
  }
}

export function isMisuse(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'FLOW_MISUSED';
}

/** Fails if the body never awaited something: an effect would be left half done, an answer unread. */
export function checkAwaited(
  asked: readonly PendingAsk[],
  flow: string,
): { kind: 'failed'; error: GatewayError } | undefined {
  const forgotten = asked.find(({ promise, spec }) => !promise.interest.isAwaited && spec.kind !== 'event');
  if (!forgotten) return undefined;
  const reason = `${describeAsk(forgotten.spec)} is never awaited`;
  const cause = places.get(forgotten);
  return { kind: 'failed', error: new GatewayError('FLOW_MISUSED', { flow, reason }, { cause }) };
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
  const error = new StepError(written);
  const thrown = thrownAs.get(written);
  if (thrown) askedAt.set(error, thrown);
  return error;
}

/** What a step has thrown in this process, for the line in the log. The body gets the same error as every replay. */
const thrownAs = new WeakMap<Written, Error>();

export function toErrorEntry(thrown: unknown): Written {
  const written: Written =
    thrown instanceof GatewayError ? { name: thrown.code, message: thrown.message } : readThrown(thrown);
  if (thrown instanceof Error) thrownAs.set(written, thrown);
  return written;
}
