// A placeholder for the result of a step that is not run. It can be passed around; reading it stops the path, as the rest depends on the
// step.
import { findAuthorLine } from '../engine/checks/author-line.ts';

export interface StepPlaceholders {
  /** The placeholder of this step. */
  valueOf(step: string): unknown;
  /** The first placeholder that was read, and where. */
  readonly used: { step: string; where: string | undefined } | undefined;
}

export class PlaceholderUsedError extends Error {
  constructor() {
    super('made-up result of a step');
    this.name = 'PlaceholderUsedError';
  }
}

export function createPlaceholders(): StepPlaceholders {
  let used: StepPlaceholders['used'];
  const valueOf = (step: string): unknown => {
    const use = (): never => {
      used ??= { step, where: findAuthorLine() };
      throw new PlaceholderUsedError();
    };
    return new Proxy(() => {}, {
      // Promises look for `then` in the value they resolve with.
      get: (_, name) => (name === 'then' ? undefined : use()),
      apply: use,
      construct: use,
      has: use,
      ownKeys: use,
      getOwnPropertyDescriptor: use,
      getPrototypeOf: use,
      set: use,
      deleteProperty: use,
      defineProperty: use,
    });
  };
  return {
    valueOf,
    get used() {
      return used;
    },
  };
}
