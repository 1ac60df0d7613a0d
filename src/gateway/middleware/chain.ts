// Folds the steps into one function, once. The mistakes that are easily made in such chains are errors that name the step:
// next() called twice, next() not waited for, something returned that is no outcome.
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Outcome, Step, StepExchange } from '../../protocol/step.ts';
import { GatewayError } from '../../shared/errors.ts';
import { ChainExchange } from './chain-exchange.ts';
import { isOutcome, respond } from './outcome.ts';

export type Last = (exchange: Exchange) => Promise<JsonObject> | JsonObject;

type Run = (exchange: StepExchange) => Promise<Outcome>;

/** Without a step that handles anything, `last` itself. */
export function createChain(steps: readonly Step[], last: Last): Last {
  const handling = steps.filter((step) => step.handle);
  if (handling.length === 0) return last;
  let run: Run = async (exchange) => respond(await last(exchange));
  for (const step of handling.toReversed()) run = link(step, run);
  return async (exchange) => (await run(new ChainExchange(exchange))).result;
}

function link(step: Step, rest: Run): Run {
  const handle = step.handle!;
  return async (exchange) => {
    let state: 'before' | 'running' | 'after' = 'before';
    const next = async (): Promise<Outcome> => {
      if (state !== 'before') throw misused(step, 'called next() twice');
      state = 'running';
      try {
        return await rest(exchange);
      } finally {
        state = 'after';
      }
    };
    const outcome = await handle(exchange, next);
    if (!isOutcome(outcome)) throw misused(step, 'returned no outcome; write "return next()" or "return respond(…)"');
    if ((state as string) === 'running') throw misused(step, 'did not wait for next()');
    return outcome;
  };
}

function misused(step: Step, reason: string): GatewayError {
  return new GatewayError('STEP_MISUSED', { step: step.name, reason });
}
