// Collects questions that arrive shortly after each other, so that a client that is asked in rounds gets them in one round. A server sends
// questions one by one, even those that it asks together.
import type { Clock } from '../../../kernel/base/clock.ts';
import { TOGETHER_MS } from '../../../kernel/containers/open-questions.ts';
import type { AskHandler } from './open-call.ts';

export function coalesce(handler: AskHandler, clock: Clock): AskHandler {
  let gate: Promise<void> | undefined;
  return async (ask, signal) => {
    gate ??= new Promise((resolve) => {
      clock.after(TOGETHER_MS, () => {
        gate = undefined;
        resolve();
      });
    });
    await gate;
    return handler(ask, signal);
  };
}
