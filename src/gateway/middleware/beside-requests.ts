// How steps take part in what is no request of a client. It travels back like an answer does: the innermost step is first.
import type { Ask, ClientView } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Step } from '../../protocol/step.ts';
import type { Change } from '../../protocol/target.ts';
import { toStepError } from './step-error.ts';

/** The change as clients should hear of it; undefined when they should not. */
export function passChange(steps: readonly Step[], change: Change): Change | undefined {
  let told: Change | undefined = change;
  for (const step of steps.toReversed()) if (told && step.onChange) told = step.onChange(told);
  return told;
}

/** A question that belongs to no exchange, on its way to `put`. */
export function passAsk(
  steps: readonly Step[],
  put: (ask: Ask) => Promise<JsonObject>,
  client: ClientView,
): (ask: Ask) => Promise<JsonObject> {
  return steps.reduce((next, { name, onAsk }) => {
    if (!onAsk) return next;
    return async (ask) => {
      try {
        return await onAsk(ask, next, client);
      } catch (thrown) {
        throw toStepError(name, thrown);
      }
    };
  }, put);
}

/** What the servers call a tool that clients know by this name, as far as the steps have learnt it from lists. */
export function toolBehind(steps: readonly Step[], name: string, scope: string): string {
  return steps.reduce((known, step) => step.toolBehind?.(known, scope) ?? known, name);
}
