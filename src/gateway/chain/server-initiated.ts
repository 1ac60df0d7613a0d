// Runs steps on changes and questions that belong to no request. Like an answer, they pass the innermost step first.
import { atOnce, droppable } from '../../kernel/base/stray-promises.ts';
import type { Ask, ClientView } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { OriginOf, Step } from '../../kernel/step.ts';
import type { Change } from '../../kernel/target.ts';
import { toStepError } from './step-error.ts';

/** The change for clients; undefined hides it. */
export function passChange(
  steps: readonly Step[],
  change: Change,
  originAfter: (place: number) => OriginOf,
): Change | undefined {
  let told: Change | undefined = change;
  for (let place = steps.length - 1; place >= 0; place--) {
    const step = steps[place]!;
    if (told && step.onChange) told = changeAfter(step, told, originAfter(place + 1));
  }
  return told;
}

/** No request waits for a change, so what the step throws is for the caller to log. */
function changeAfter(step: Step, change: Change, originOf: OriginOf): Change | undefined {
  try {
    return atOnce('onChange', step.onChange!(change, originOf));
  } catch (thrown) {
    throw toStepError(step.name, thrown);
  }
}

/** Finds the origin of a name as the outermost of these steps shows it. */
export function originBehind(steps: readonly Step[], scope: string, last: OriginOf): OriginOf {
  return (area, name) => last(area, nameBehind(steps, area, name, scope));
}

/** Passes a question outside of an exchange to `put`. */
export function passAsk(
  steps: readonly Step[],
  put: (ask: Ask) => Promise<JsonObject>,
  client: ClientView,
): (ask: Ask) => Promise<JsonObject> {
  return steps.reduce((next, { name, onAsk }) => {
    if (!onAsk) return next;
    return async (ask) => {
      try {
        return await onAsk(ask, (asked) => droppable(next(asked)), client);
      } catch (thrown) {
        throw toStepError(name, thrown);
      }
    };
  }, put);
}

/** The servers' name for something that clients know by this name, as far as lists have shown it. */
export function nameBehind(
  steps: readonly Step[],
  area: 'tools' | 'prompts' | 'resources',
  name: string,
  scope: string,
): string {
  if (area === 'resources') return name; // steps do not rename resources
  const hook = area === 'tools' ? 'toolBehind' : 'promptBehind';
  return steps.reduce((known, step) => atOnce(`${hook} of ${step.name}`, step[hook]?.(known, scope)) ?? known, name);
}
