// An object without prototype for keys from peers: `constructor` is absent and `__proto__` is an ordinary key.
export function dictionary<T>(entries: Readonly<Record<string, T>> = {}): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, entries);
}
