// Makes outcomes. Only what is made here is one, so that a step that returns something else is told so. The mark is known to
// every copy of this package: a step that was loaded from a file may have its own.
import type { JsonObject } from '../../../protocol/message.ts';
import { RawObject, toPlainObject } from '../../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { Outcome } from '../../../protocol/step.ts';

const MARK = Symbol.for('mcp-parley.outcome');

class MadeOutcome {
  readonly [MARK] = true;
  result: JsonObject;

  constructor(result: JsonObject) {
    this.result = result;
  }
}

/** One whose result nobody has read. Who reads the result may also have changed it. */
class UnreadOutcome {
  readonly [MARK] = true;
  #held: ResultObject;

  constructor(result: RawObject) {
    this.#held = result;
  }

  get held(): ResultObject {
    return this.#held;
  }

  get result(): JsonObject {
    return (this.#held = toPlainObject(this.#held));
  }

  set result(value: JsonObject) {
    this.#held = value;
  }

  toJSON(): { result: JsonObject } {
    return { result: this.result };
  }
}

/** The answer of a target, on its way through the steps. */
export function toStepOutcome(result: ResultObject): Outcome {
  return result instanceof RawObject ? (new UnreadOutcome(result) as unknown as Outcome) : respond(result);
}

/** The result as it is now, unread if no step has read it. */
export function resultIn(outcome: Outcome): ResultObject {
  return outcome instanceof UnreadOutcome ? (outcome as UnreadOutcome).held : outcome.result;
}

/** Answers in place of the rest of the chain. */
export function respond(result: JsonObject): Outcome {
  return new MadeOutcome(result) as unknown as Outcome;
}

export function isOutcome(value: unknown): value is Outcome {
  return typeof value === 'object' && value !== null && MARK in value && 'result' in value;
}
