// Makes outcomes. Only what is made here is one, so that a step that returns something else is told so. The mark is known to
// every copy of this package: a step that was loaded from a file may have its own.
import type { JsonObject } from '../../protocol/message.ts';
import type { Outcome } from '../../protocol/step.ts';

const MARK = Symbol.for('mcp-parley.outcome');

class MadeOutcome {
  readonly [MARK] = true;
  result: JsonObject;

  constructor(result: JsonObject) {
    this.result = result;
  }
}

/** Answers in place of the rest of the chain. */
export function respond(result: JsonObject): Outcome {
  return new MadeOutcome(result) as unknown as Outcome;
}

export function isOutcome(value: unknown): value is Outcome {
  return typeof value === 'object' && value !== null && MARK in value;
}
