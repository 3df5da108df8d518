/**
 * Returns `compute` with a cache of its results. When the cache holds `entriesMax` results, it is emptied: keys may come from outside, so
 * their number has to be bounded. A result of `undefined` is not cached.
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

/** Returns `compute` with a cache of one result for each object. A result is dropped together with its object. */
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
