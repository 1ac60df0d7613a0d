// Makes outcomes. Only what is made here is one, so that a step that returns something else is told so.
import type { JsonObject } from '../../protocol/message.ts';
import type { Outcome } from '../../protocol/step.ts';

class MadeOutcome {
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
  return value instanceof MadeOutcome;
}
