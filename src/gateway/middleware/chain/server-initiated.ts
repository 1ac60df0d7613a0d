// How steps take part in what is no request of a client. It travels back like an answer does: the innermost step is first.
import type { Ask, ClientView } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { OriginOf, Step } from '../../../protocol/step.ts';
import type { Change } from '../../../protocol/target.ts';
import { toStepError } from './step-error.ts';

/** The change as clients should hear of it; undefined when they should not. */
export function passChange(
  steps: readonly Step[],
  change: Change,
  originAfter: (place: number) => OriginOf,
): Change | undefined {
  let told: Change | undefined = change;
  for (let place = steps.length - 1; place >= 0; place--) {
    const { onChange } = steps[place]!;
    if (told && onChange) told = steps[place]!.onChange!(told, originAfter(place + 1));
  }
  return told;
}

/** Where something comes from, by the name that `steps`, from a place on, show it by. */
export function originBehind(steps: readonly Step[], scope: string, last: OriginOf): OriginOf {
  return (area, name) => last(area, nameBehind(steps, area, name, scope));
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

/** What the servers call something that clients know by this name, as far as the steps have learnt it from lists. */
export function nameBehind(
  steps: readonly Step[],
  area: 'tools' | 'prompts' | 'resources',
  name: string,
  scope: string,
): string {
  if (area === 'resources') return name; // steps do not rename these
  const hook = area === 'tools' ? 'toolBehind' : 'promptBehind';
  return steps.reduce((known, step) => step[hook]?.(known, scope) ?? known, name);
}
