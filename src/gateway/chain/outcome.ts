// Creates outcomes. Only this file does, so that a step that returns anything else gets an error. All copies of this package
// share the mark, because a step loaded from a file may have its own copy.
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { RawObject, toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { Outcome, StepExchange } from '../../kernel/step.ts';
import { GET_TASK } from '../../kernel/methods.ts';
import { misuseError } from './step-error.ts';

const MARK = Symbol.for('mcp-parley.outcome');

class MadeOutcome {
  readonly [MARK] = true;
  result: JsonObject;

  constructor(result: JsonObject) {
    this.result = result;
  }
}

/** An outcome with an unparsed result. Reading the result parses it, since the reader may change it. */
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

/** Wraps the target's result for the steps. */
export function toStepOutcome(result: ResultObject): Outcome {
  return result instanceof RawObject ? (new UnreadOutcome(result) as unknown as Outcome) : respond(result);
}

/** The current result, unparsed if no step has read it. */
export function resultIn(outcome: Outcome): ResultObject {
  const result = outcome instanceof UnreadOutcome ? (outcome as UnreadOutcome).held : outcome.result;
  if (typeof result !== 'object' || result === null)
    throw misuseError('of the chain', 'the result that it leaves must be an object');
  return result;
}

/** What a model reads of a result: the result of `tasks/get` has it inside, once the task has ended. */
export function answerIn(result: JsonObject, { method }: Pick<StepExchange, 'method'>): JsonObject | undefined {
  if (method !== GET_TASK) return result;
  return isObject(result.result) ? result.result : undefined;
}

/** The result with this answer in it. */
export function withAnswer(
  result: JsonObject,
  answer: JsonObject,
  { method }: Pick<StepExchange, 'method'>,
): JsonObject {
  return method === GET_TASK ? { ...result, result: answer } : answer;
}

/**
 * Answers in place of the rest of the chain.
 *
 * @example
 * ```ts
 * import { respond } from 'mcp-parley';
 * import { onCall } from 'mcp-parley/middleware';
 *
 * const closed = onCall(() => respond({ content: [{ type: 'text', text: 'Closed today.' }] }));
 * ```
 */
export function respond(result: JsonObject): Outcome {
  return new MadeOutcome(result) as unknown as Outcome;
}

export function isOutcome(value: unknown): value is Outcome {
  return typeof value === 'object' && value !== null && MARK in value && 'result' in value;
}
