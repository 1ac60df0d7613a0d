// What a step may not return, seen by the compiler: its result is written to the journal as JSON, and what JSON turns into something else
// would come back as another type than the one that was inferred. The engine refuses the same things when it runs (engine/plain.ts), and
// those that no type tells apart: NaN, and an Error, which looks like any object with a name and a message.
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

/** How deep types are looked into: those that contain themselves have no end. */
type Levels = [0, 0, 0, 0, 0, 0];

/** The parts of a type that do not come back from JSON; never where all of it does, or where it is not known. */
export type NotJson<T, Left extends unknown[] = Levels> = 0 extends 1 & T
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

/** Added to the work of a step: nothing where its result is kept, else what the compiler prints. */
export type KeptAsJson<T> = [NotJson<T>] extends [never]
  ? unknown
  : { readonly 'the result of a step is kept as JSON, which this is not': NotJson<T> };
