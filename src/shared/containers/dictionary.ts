// An object whose keys are strings of a peer: `constructor` is not there unless somebody puts it, and `__proto__` is a key like any other.
export function dictionary<T>(entries: Readonly<Record<string, T>> = {}): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, entries);
}
