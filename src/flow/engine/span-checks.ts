// Every span of a flow is checked against that of its session: a span that can never pass within it is a mistake of the author, and the error
// names both figures. Spans that have a default are not: the session simply ends first.
import { GatewayError } from '../../kernel/base/errors.ts';
import { toMs, toSpanText } from '../authoring/span.ts';
import type { Span } from '../authoring/span.ts';
import type { CurrentRun } from './current-run.ts';
import type { AskSpec, StepSpec } from './pending-ask.ts';
import type { QuestionSpec } from './question-spec.ts';

/** Throws FLOW_MISUSED. */
export function checkSpans(spec: AskSpec, run: CurrentRun): void {
  if (spec.kind === 'step') checkStep(spec, run);
  else if (spec.kind === 'sleep') checkWait(spec.key, spec.sleepMs, { what: 'the sleep', run });
  else if (spec.kind === 'event') checkWait(spec.key, spec.timeoutMs ?? 0, { what: 'the timeout of the event', run });
  else checkQuestion(spec, run);
}

/** A wait begins now, and must end within the rest of the session. */
function checkWait(key: string, ms: number, { what, run }: { what: string; run: CurrentRun }): void {
  if (run.since(key) + ms <= (run.turn.deadline ?? Infinity)) return;
  throw tooLong(`${what} ${key}`, ms, run);
}

/** The timeout of a question extends the session up to its duration. */
function checkQuestion({ key, options, person }: QuestionSpec, run: CurrentRun): void {
  const { timeout } = options;
  const timeoutMs = timeout === undefined ? undefined : toMs(timeout, `timeout of question ${key}`);
  const remindMs = person?.remindMs;
  if (timeoutMs === undefined && remindMs === undefined) return;
  const durationMs = durationOf(run);
  if (timeoutMs !== undefined && timeoutMs >= durationMs)
    throw tooLong(`the timeout of the question ${key}`, timeoutMs, run);
  if (remindMs === undefined) return;
  if (remindMs >= durationMs) throw tooLong(`remind of the question ${key}`, remindMs, run);
  if (timeoutMs === undefined || remindMs < timeoutMs) return;
  throw misused(
    `remind of the question ${key} (${toSpanText(remindMs)}) that is not shorter than its timeout (${toSpanText(timeoutMs)})`,
  );
}

function checkStep({ key, options: { timeout, heartbeat, retry } }: StepSpec, run: CurrentRun): void {
  if (timeout === undefined && heartbeat === undefined && retry === undefined) return;
  const { pause, maxPause, within } = retry ?? {};
  const spans: Record<string, Span | undefined> = {
    timeout,
    heartbeat,
    'retry.pause': pause,
    'retry.maxPause': maxPause,
    'retry.within': within,
  };
  for (const [name, span] of Object.entries(spans)) {
    const ms = span === undefined ? 0 : toMs(span, `${name} of step ${key}`);
    if (ms > durationOf(run)) throw tooLong(`${name} of the step ${key}`, ms, run);
  }
}

/** How long the session may last in all; without an end for a run that belongs to none. */
function durationOf({ turn, input }: CurrentRun): number {
  return (turn.deadline ?? Infinity) - input.folded.start.ts;
}

function tooLong(what: string, ms: number, run: CurrentRun): GatewayError {
  return misused(
    `${what} (${toSpanText(ms)}) is longer than its session may last (${toSpanText(durationOf(run))}); raise limits.duration of the flow`,
  );
}

function misused(reason: string): GatewayError {
  return new GatewayError('FLOW_MISUSED', { reason });
}
