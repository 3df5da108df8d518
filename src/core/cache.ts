/**
 * Returns a function like `compute` whose results, except `undefined`, are cached by key. At `entriesMax` results, the cache is emptied:
 * keys may come from files or clients, so the number of results is bounded.
 */
export function memoize<Key extends string | number, Value>(
  entriesMax: number,
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const cache = new Map<Key, Value>();
  return (key) => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const value = compute(key);
    if (cache.size >= entriesMax) cache.clear();
    if (value !== undefined) cache.set(key, value);
    return value;
  };
}

/** Returns a function like `compute` whose results, except `undefined`, are cached by object, and freed together with the object. */
export function memoizeByObject<Owner extends WeakKey, Value>(
  compute: (owner: Owner) => Value,
): (owner: Owner) => Value {
  const cache = new WeakMap<Owner, Value>();
  return (owner) => {
    const cached = cache.get(owner);
    if (cached !== undefined) return cached;
    const value = compute(owner);
    cache.set(owner, value);
    return value;
  };
}
