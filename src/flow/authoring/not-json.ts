// Lets the compiler refuse step results that JSON would change, as they are recorded as JSON and would come back as another type. The
// engine refuses the same values at run time, and those that types cannot tell apart: NaN, and an Error, which looks like any object with a
// name and a message.
type Lossy =
  | Date
  | RegExp
  | ArrayBuffer
  | ArrayBufferView
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | Promise<unknown>
  | bigint
  | symbol
  | ((...args: never) => unknown);

/** How deep types are checked, as recursive types have no end. */
type Levels = [0, 0, 0, 0, 0, 0];

/** The parts of a type that JSON would change; never if there are none, or if the type is unknown. */
type NotJson<T, Left extends unknown[] = Levels> = 0 extends 1 & T
  ? never
  : T extends Lossy
    ? T
    : T extends object
      ? Left extends [unknown, ...infer Rest]
        ? T extends readonly (infer Item)[]
          ? NotJson<Item, Rest>
          : { [Name in keyof T]-?: NotJson<T[Name], Rest> }[keyof T]
        : never
      : never;

/** Added to the type of a step's function: nothing if its result is valid, else the error that the compiler prints. */
export type KeptAsJson<T> = [NotJson<T>] extends [never]
  ? unknown
  : { readonly 'the result of a step is kept as JSON, which this is not': NotJson<T> };
