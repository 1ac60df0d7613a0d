// Fails a flow that does not reach its first question in time. Later questions have only the limits of their steps.
import { toMs } from '../../authoring/span.ts';
import type { EarlyEnd } from '../../journal.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { TurnRunner } from './turn-runner.ts';
import { draftFailure } from './turn-changes.ts';

/** Call the returned function to stop the timer. */
export function limitFirstQuestion(runner: TurnRunner, end: (ending: EarlyEnd) => Promise<void>): () => void {
  const { context, flow, stored } = runner.input;
  const { firstQuestion } = flow.options;
  if (stored) return () => {};
  const ms = firstQuestion === undefined ? context.limits.firstQuestionMs : toMs(firstQuestion, 'firstQuestion');
  return context.clock.after(ms, () => {
    const { patch, turn } = draftFailure(runner, new GatewayError('FLOW_TIMEOUT', { what: flow.name, ms }));
    void end({ kind: 'fail', reason: patch.reason, failure: turn.failure });
  });
}
