// Stands for the result of a step that was not run. It can be handed about, but whoever looks into it has come to where nothing
// can be told without running the step.
import { findAuthorLine } from '../engine/checks/author-line.ts';

export interface StepPlaceholders {
  /** Of this step. */
  valueOf(step: string): unknown;
  /** Somebody has looked into it: into which, and where. */
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
      // Promises look for it in whatever they are resolved with.
      get: (_, name) => (name === 'then' ? undefined : use()),
      ...{ apply: use, construct: use, has: use, ownKeys: use, getOwnPropertyDescriptor: use, getPrototypeOf: use },
      ...{ set: use, deleteProperty: use, defineProperty: use },
    });
  };
  return {
    valueOf,
    get used() {
      return used;
    },
  };
}
