// The building blocks of schema.ts. One description serves the check of a file, the JSON Schema for editors, and the types of checked
// values.
interface Described {
  /** Shown in editors and in the docs. */
  about: string;
}

interface TextOptions {
  notEmpty?: boolean;
  /** A regular expression for the whole text, and a description of what matches it. */
  pattern?: string;
  like?: string;
}

export type Shape = Described &
  (
    | ({ kind: 'text' } & TextOptions)
    | { kind: 'integer'; min: number; max: number }
    | { kind: 'flag' }
    | { kind: 'choice'; values: readonly string[] }
    /** Text, or a number or flag that is read as text. */
    | { kind: 'plain' }
    | { kind: 'list'; of: Shape }
    | { kind: 'record'; of: Shape }
    | { kind: 'object'; keys: Readonly<Record<string, Shape>> }
    /** Alternatives, distinguished by their JSON type. */
    | { kind: 'either'; of: readonly Shape[] }
    | { kind: 'anything' }
    /** A key of another program: allowed and ignored. The note is a warning if ignoring it changes something. */
    | { kind: 'foreign'; note?: string | undefined }
  );

declare const type: unique symbol;
/** A type for the compiler only. */
export type TypedShape<T> = Shape & { readonly [type]?: T };
export type TypeOf<S> = S extends TypedShape<infer T> ? T : never;

/** The longest delay of a timer. */
export const MAX_MS = 2 ** 31 - 1;
const MAX = Number.MAX_SAFE_INTEGER;

export function text(about: string, options: TextOptions = {}): TypedShape<string> {
  return { kind: 'text', about, ...options };
}

export function integer(
  about: string,
  { min = 0, max = MAX }: { min?: number; max?: number } = {},
): TypedShape<number> {
  return { kind: 'integer', about, min, max };
}

export function flag(about: string): TypedShape<boolean> {
  return { kind: 'flag', about };
}

export function choice<const V extends string>(values: readonly V[], about: string): TypedShape<V> {
  return { kind: 'choice', about, values };
}

export function plain(about: string): TypedShape<string> {
  return { kind: 'plain', about };
}

export function list<T>(of: TypedShape<T>, about: string): TypedShape<T[]> {
  return { kind: 'list', about, of };
}

export function record<T>(of: TypedShape<T>, about: string): TypedShape<Record<string, T>> {
  return { kind: 'record', about, of };
}

/** No key is required here; the checks say more clearly which keys belong together. */
export function object<K extends Record<string, Shape>>(
  keys: K,
  about: string,
): TypedShape<{ [Key in keyof K]?: TypeOf<K[Key]> | undefined }> {
  return { kind: 'object', about, keys };
}

export function either<A, B, C = never>(
  of: readonly [TypedShape<A>, TypedShape<B>, TypedShape<C>?],
  about: string,
): TypedShape<A | B | C> {
  return { kind: 'either', about, of: of as readonly Shape[] };
}

export function anything(about: string): TypedShape<unknown> {
  return { kind: 'anything', about };
}

export function foreign(about: string, note?: string): TypedShape<never> {
  return { kind: 'foreign', about, note };
}
