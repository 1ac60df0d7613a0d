// A key of the configuration file that belongs to one feature: what may stand there, what it becomes, and when a change of it takes effect.
import type { Shape, TypedShape } from './shape.ts';

export interface ConfigKey<Input, Normal> {
  readonly shape: TypedShape<Input>;
  /**
   * As plain data with all short forms expanded; normalizing that again gives the same. Undefined: the default. `folder`: where
   * relative paths start.
   */
  normalize(input: Input | undefined, folder: string): Normal | undefined;
  /** `restart`: at the next start of Parley; in the entry of a server, when the server is opened again, which the change does. */
  readonly apply: 'live' | 'restart';
  /** What is below the key and loosens nothing, so that `parley trust` does not show it; an empty name is the key itself. */
  readonly quiet: readonly string[];
}

/** A key of whatever types. */
interface AnyKey extends Pick<ConfigKey<unknown, unknown>, 'apply' | 'quiet'> {
  readonly shape: Shape;
  normalize(input: never, folder: string): unknown;
}

export type AnyConfigKeys = Readonly<Record<string, AnyKey>>;

/** A key whose types are checked where it is defined. */
export function defineKey<Input, Normal>(key: ConfigKey<Input, Normal>): ConfigKey<Input, Normal> {
  return key;
}

type InputOf<K> = K extends { shape: TypedShape<infer Input> } ? Input : never;
type NormalOf<K> = K extends { normalize(input: never, folder: string): infer Normal }
  ? Exclude<Normal, undefined>
  : never;

export type ShapesOf<Keys> = { [Key in keyof Keys]: TypedShape<InputOf<Keys[Key]>> };
/** What a normalized configuration has of these keys. */
export type NormalsOf<Keys> = { readonly [Key in keyof Keys]?: NormalOf<Keys[Key]> };

export function shapesOf<Keys extends AnyConfigKeys>(keys: Keys): ShapesOf<Keys> {
  return mapKeys(keys, ({ shape }) => shape) as ShapesOf<Keys>;
}

export function normalizeKeys<Keys extends AnyConfigKeys>(
  keys: Keys,
  input: { readonly [Key in keyof Keys]?: unknown },
  folder: string,
): NormalsOf<Keys> {
  return mapKeys(keys, (key, name) => key.normalize(input[name] as never, folder)) as NormalsOf<Keys>;
}

/** What a configuration has of these keys; absent where it has nothing. */
export function pickKeys<Keys extends AnyConfigKeys>(keys: Keys, config: NormalsOf<Keys>): NormalsOf<Keys> {
  const present = Object.entries(config).filter(([name, value]) => Object.hasOwn(keys, name) && value !== undefined);
  return Object.fromEntries(present) as NormalsOf<Keys>;
}

function mapKeys<T>(keys: AnyConfigKeys, map: (key: AnyKey, name: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, map(key, name)]));
}
