// Stands for the result of a step that was not run. It can be handed about, but whoever looks into it has come to where nothing
// can be told without running the step.
export interface Poison {
  readonly value: unknown;
  /** Somebody has looked into it. */
  readonly used: boolean;
}

export class Poisoned extends Error {
  constructor() {
    super('made-up result of a step');
    this.name = 'Poisoned';
  }
}

export function createPoison(): Poison {
  const state = { used: false };
  const use = (): never => {
    state.used = true;
    throw new Poisoned();
  };
  const value: unknown = new Proxy(() => {}, {
    // Promises look for it in whatever they are resolved with.
    get: (_, name) => (name === 'then' ? undefined : use()),
    ...{ apply: use, construct: use, has: use, ownKeys: use, getOwnPropertyDescriptor: use, getPrototypeOf: use },
    ...{ set: use, deleteProperty: use, defineProperty: use },
  });
  return {
    value,
    get used() {
      return state.used;
    },
  };
}
